"""Files that go with a message, and images in prompts and results: shown safely, in full by a link."""

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.page import Served, Tab, Windows, needs_browser
from support.pictures import png
from support.program import asks_for, read, says

pytestmark = needs_browser
PNG: Any = {"name": "shot one.png", "mimeType": "image/png", "buffer": png()}
DROP = """([form, name, type, data]) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name, { type }));
    const kind = form.dataset.kind ?? "drop";
    const made = kind === "drop" ? new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true })
        : new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true });
    form.dispatchEvent(made);
}"""


def attached(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


def is_drawn(image: Locator, width: int) -> None:
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", width)


@pytest.mark.spec("H2")
def test_a_picture_goes_with_the_first_prompt_and_is_shown_with_it(served: Served, windows: Windows) -> None:
    tab = windows.open()
    start = tab.start(served.play(says("A red one.")), served.project())
    tab.page.get_by_label("Files to attach").set_input_files(PNG)
    expect(attached(tab)).to_have_count(1)
    is_drawn(attached(tab).get_by_role("presentation"), 40)
    start.get_by_label("What should be done?").fill("What is this?")
    start.get_by_role("button", name="Start").click()
    tab.sees("A red one.")
    prompt = tab.page.get_by_label("Prompt", exact=True)
    expect(prompt).to_contain_text("@shot_one.png")
    expect(prompt).not_to_contain_text("outputs")
    is_drawn(prompt.get_by_role("img"), 40)
    prompt.get_by_role("link").click()
    is_drawn(tab.page.get_by_role("img", name="Image in full size"), 40)
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Save as a file").click()
    assert Path(download.value.path()).read_bytes() == png()
    tab.page.reload()
    is_drawn(tab.page.get_by_role("img", name="Image in full size"), 40)
    tab.page.get_by_role("link", name="Back to the conversation").click()
    tab.sees("A red one.")
    assert tab.complaints == []


@pytest.mark.spec("H2")
@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_files_are_dropped_or_pasted_into_the_message(served: Served, windows: Windows, kind: str) -> None:
    tab = windows.open()
    tab.begin(served.play(says("Hello."), says("Read.")), served.project())
    tab.sees("Hello.")
    form = tab.page.locator("form.composer")
    form.evaluate("(form, kind) => (form.dataset.kind = kind)", kind)
    for name, text in (("notes.txt", b"the word is teapot"), ("more.txt", b"not this one")):
        data = base64.b64encode(text).decode()
        tab.page.evaluate(DROP, [form.element_handle(), name, "text/plain", data])
    expect(attached(tab)).to_have_count(2)
    tab.page.get_by_role("button", name="Remove more.txt").click()
    expect(attached(tab)).to_have_count(1)
    tab.page.get_by_role("button", name="Send", exact=True).click()
    tab.sees("Read.")
    tab.sees("With notes.txt")
    expect(tab.page.get_by_label("Prompt", exact=True).last).to_contain_text("See the attached file.")
    expect(attached(tab)).to_have_count(0)
    assert tab.complaints == []


@pytest.mark.spec("H2")
def test_a_file_that_is_too_large_is_refused_before_it_is_sent(served: Served, windows: Windows) -> None:
    tab = windows.open(hash="#/new")
    large: Any = {"name": "film.mp4", "mimeType": "video/mp4", "buffer": bytes(10_000_001)}
    tab.page.get_by_label("Files to attach").set_input_files([large, PNG])
    tab.sees("film.mp4 is too large: at most 10 MB.")
    expect(tab.page.get_by_role("button", name="Remove shot one.png")).to_be_visible()
    expect(tab.page.get_by_role("button", name="Remove film.mp4")).to_have_count(0)


@pytest.mark.spec("H2")
def test_an_image_that_a_tool_returns_is_shown_in_its_call(served: Served, windows: Windows) -> None:
    project = served.project()
    (project / "plot.png").write_bytes(png(64, 48))
    tab = windows.open()
    tab.begin(served.play(asks_for(read("plot.png")), says("Nice.")), project)
    tab.sees("Nice.")
    is_drawn(tab.page.locator("details.call").get_by_role("img", name="Image 1 of 1"), 64)
    assert tab.complaints == []


MARKUP = b"<svg xmlns='http://www.w3.org/2000/svg' onload='parent.owned=1'><script>top.owned=1</script></svg>"


@pytest.mark.spec("H5")
def test_media_that_could_run_are_offered_as_files_and_never_shown(served: Served, windows: Windows) -> None:
    """An MCP server may claim any type for anything. What the page gets is changed on its way to do the same."""
    tab = windows.open()
    hostile = [
        {"mime": "image/svg+xml", "data": base64.b64encode(MARKUP).decode()},
        {"mime": "text/html", "data": base64.b64encode(b"<script>owned=1</script>").decode()},
        {"mime": "image/png", "data": base64.b64encode(MARKUP).decode()},
        {"mime": "image/png", "data": "not base64 \u202e <img src=x onerror=owned=1>"},
        {"mime": "<img src=x onerror=owned=1>", "data": "AAAA"},
    ]

    def change(route: Any) -> None:
        answer = route.fetch()
        body = answer.json()
        for event in body["events"]:
            if event["type"] == "call.finished":
                event["result"]["media"] = hostile
        route.fulfill(response=answer, json=body)

    session = tab.begin(served.play(asks_for(read("a.txt")), says("Done.")), served.project(a__txt="x"))
    tab.sees("Done.")
    tab.page.route("**/events?*", change)
    tab.page.reload()
    media = tab.page.locator(".media")
    expect(media.get_by_role("link")).to_have_count(5)
    expect(media.get_by_text("it cannot be shown")).to_have_count(2)
    expect(media.locator("img")).to_have_count(0)
    expect(media).to_contain_text("<img src=x onerror=owned=1>")
    tab.go(f"#/s/{session}/media/read.0")
    tab.sees("It cannot be shown here.")
    assert tab.page.evaluate("globalThis.owned") is None
    tab.go(f"#/s/{session}/media/read.99")
    tab.sees("There is no such file in this session.")
    assert tab.complaints == []
