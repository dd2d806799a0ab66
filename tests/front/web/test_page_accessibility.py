"""Every state of the page, judged by axe-core with the rules of WCAG 2.2 A and AA, in light and dark."""

import functools
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.page import Served, Windows, needs_browser
from support.pictures import png
from support.program import asks_for, says, shell, write

pytestmark = needs_browser
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPTIONS = {"runOnly": RULES, "rules": {"target-size": {"enabled": False}}}
"""The size of targets: axe takes a button for small that is half under the answers, which stay in view."""
TEXT = "## Plan\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 'y'  # z\n```\n\n- [ ] open"
PICTURE: Any = {"name": "shot.png", "mimeType": "image/png", "buffer": png()}
TODOS = {"todos": [{"description": "Read", "status": "completed"}, {"description": "Write", "status": "in_progress"}]}
QUESTION = {"question": "Which one?", "type": "choice", "options": [{"label": "a"}, {"label": "b"}]}


@functools.cache
def axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    page.evaluate(axe())
    found: dict[str, Any] = page.evaluate("options => axe.run(document, options)", OPTIONS)
    return [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]


@pytest.mark.spec("H2")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (640, 400)], ids=["screen", "phone", "zoom"])
def test_no_state_of_the_page_violates_the_rules_for_accessibility(
    served: Served, windows: Windows, scheme: str, size: tuple[int, int]
) -> None:
    me = f"axe{size[0]}{scheme}"
    tab = windows.open(me, owner=me, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = tab.page
    page.get_by_role("textbox", name="What should be done?").wait_for()  # on a phone, too: there are no sessions yet
    assert violations(page) == []
    old = "".join(f"line {number}\n" for number in range(100))
    new = old.replace("line 3\n", "line three\n").replace("line 90\n", "line ninety\n")
    steps = {"name": "write_todos", "args": TODOS, "id": "t"}
    asks = {"name": "ask_user", "args": {"questions": [QUESTION]}, "id": "q"}
    model = served.play(
        asks_for(steps, shell("seq 30", "s"), text=TEXT),
        asks_for(write("a.txt", new, "w")),
        asks_for(asks),
        says("Done."),
    )
    start = tab.start(model, served.project(a__txt=old))
    page.get_by_label("Files to attach").set_input_files(PICTURE)
    expect(page.get_by_role("button", name="Remove shot.png")).to_be_visible()
    assert violations(page) == []
    start.get_by_label("What should be done?").fill("go")
    start.get_by_role("button", name="Start").click()
    expect(tab.card("Change a.txt").get_by_role("button", name="No")).to_be_visible()
    assert violations(page) == []
    tab.card().get_by_role("button", name="Fold all").click()
    tab.press("Always") if tab.card().get_by_role("button", name="Always").is_enabled() else tab.press("No")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_label("Prompt", exact=True).get_by_role("link").click()
    expect(page.get_by_role("img", name="Image in full size")).to_be_visible()
    assert violations(page) == []
    page.evaluate("location.hash = '#/inbox'")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    expect(tab.card().get_by_role("button", name="No")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#/'")
    for entry, part in (("Who has access", "Revoke"), ("Who decided what", "Check the record")):
        page.get_by_role("button", name="Server", exact=True).click()
        page.get_by_role("menuitem", name=entry).click()
        expect(page.get_by_role("dialog", name=entry).get_by_role("button", name=part).first).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
    assert tab.complaints == []
