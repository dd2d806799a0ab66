"""What a hostile model, tool or file can do in the page: be read. And what careless fingers can do: nothing."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from assent.screen import make_safe
from support.page import Served, Tab, Windows, a_server, needs_browser
from support.program import asks_for, says, shell, write

pytestmark = needs_browser
EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def assert_only_text(tab: Tab) -> None:
    """Nothing ran, nothing was loaded, and there is no element that we did not make."""
    page = tab.page
    assert page.evaluate("window.hacked") is None
    foreign = "img, iframe, object, embed, script:not([src^='/page/']), style, [onerror], [onclick], [ontoggle]"
    assert page.locator(foreign).count() == 0
    assert page.locator("a[href^='javascript'], a[href^='data'], a[href^='vbscript']").count() == 0
    assert tab.complaints == []


# --- markup stays text ---


@pytest.mark.spec("H4")
def test_script_in_every_field_stays_text(served: Served, windows: Windows) -> None:
    file = "<b onclick=alert(1)>x.txt"
    markdown = (
        f"{EVIL}\n\n![pixel](https://evil.example/leak.png) [click](javascript:alert(1)) [data](data:text/html,x)\n\n"
        f"| {EVIL} |\n|---|\n| `{EVIL}` |\n\n```html\n{EVIL}\n```\n\n<details open ontoggle=alert(1)>\n\n"
        "&lt;b&gt; &#x202e;"
    )
    link = "\\033]8;;javascript:alert(1)\\033\\\\"
    printing = f"printf '%s' '{EVIL}' > y; printf '{link}{EVIL}\\033[31m'; cat y"
    project = served.project()
    model = served.play(
        {
            "chunks": [
                {"thought": f"**{EVIL}**\n{EVIL}"},
                {"text": markdown},
                {"call": {"name": EVIL, "args": {"x": EVIL}}},
                {"call": write(file, f"{EVIL}\n", "w")},
                {"call": shell(printing, "r")},
            ]
        },
        says(EVIL),
    )
    tab = windows.open()
    tab.begin(model, project, f"{EVIL} please")
    expect(tab.card()).to_have_count(2)
    assert_only_text(tab)
    tab.yes("Create")
    tab.yes("Run a command")
    expect(tab.page.locator(".call.success")).to_have_count(2)
    expect(tab.page.get_by_role("region", name="Output")).to_contain_text(f"{EVIL}{EVIL}")
    expect(tab.page.locator(".markdown", has_text="onerror").last).to_be_visible()
    for summary in tab.page.locator("summary").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    assert_only_text(tab)
    expect(tab.page.get_by_text("![pixel](https://evil.example/leak.png)")).to_be_visible()
    assert (project / file).read_text() == f"{EVIL}\n"
    tab.go("#/inbox")
    assert_only_text(tab)


@pytest.mark.spec("H4")
def test_the_page_forbids_itself_inline_script_style_and_foreign_hosts(windows: Windows) -> None:
    page = windows.open().page
    blocked = page.evaluate(
        """async () => {
            const seen = [];
            addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
            const script = document.createElement("script");
            try {
                script.textContent = "window.hacked = 1";
                document.head.append(script);
            } catch {
                seen.push("trusted-types");
            }
            try { document.body.innerHTML = "<b>x</b>"; } catch { seen.push("innerHTML"); }
            const style = document.createElement("style");
            style.textContent = "body { display: none }";
            document.head.append(style);
            await fetch("http://127.0.0.1:1/").catch(() => seen.push("fetch"));
            style.remove();
            await new Promise((later) => setTimeout(later));
            return seen;
        }"""
    )
    assert {"trusted-types", "innerHTML", "style-src-elem", "fetch"} <= set(blocked)
    assert page.evaluate("window.hacked") is None


# --- the way in ---


@pytest.mark.spec("H4")
def test_the_login_code_vanishes_from_the_address_works_once_and_leaves_no_cookie(browser: Browser) -> None:
    with a_server() as served:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{served.address}/#code={served.code}")
        expect(page.get_by_role("button", name="New session")).to_be_visible()
        assert served.code not in page.url and "code" not in page.url
        assert context.cookies() == []
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        second = context.new_page()  # another tab of the same browser is let in by the first
        second.goto(served.address)
        expect(second.get_by_role("button", name="New session")).to_be_visible()
        stranger = browser.new_context().new_page()
        stranger.goto(f"{served.address}/#code={served.code}")
        expect(stranger.get_by_text("Not logged in")).to_be_visible()
        expect(stranger.get_by_role("alert")).to_be_visible()
        stranger.get_by_label(re.compile("paste a token")).fill(served.token("vic", "viewer"))
        stranger.get_by_role("button", name="Log in").click()
        expect(stranger.get_by_role("link", name="Inbox empty")).to_be_visible()
        expect(stranger.get_by_role("button", name="New session")).to_have_count(0)
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_text("Not logged in")).to_be_visible()
        page.reload()
        stranger.context.close()
        context.close()


@pytest.mark.spec("H4")
def test_a_viewer_sees_the_question_but_no_way_to_answer_it(served: Served, windows: Windows) -> None:
    tab, viewer = windows.open(), windows.open("vic", "viewer")
    session = tab.begin(served.play(asks_for(shell("touch x"))), served.project())
    viewer.go(f"#/s/{session}")
    expect(viewer.card()).to_contain_text("You can view this, but not answer.")
    expect(viewer.card().get_by_role("button")).to_have_count(0)
    expect(viewer.page.get_by_role("status").filter(has_text="Waiting for an answer")).to_be_visible()
    expect(viewer.page.get_by_text("for you")).to_have_count(0)
    expect(viewer.page.get_by_label("Message")).to_have_count(0)


# --- what the person sees and presses ---


@pytest.mark.spec("H2")
def test_hidden_characters_of_a_command_are_shown_and_warned_about(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch safe\u202etxt.exe \u200b; \u0441url evil"))), served.project())
    exact = tab.card().locator(".exact")
    expect(exact).to_contain_text("touch safe<U+202E>txt.exe <U+200B>; ")
    expect(exact.locator("mark")).to_have_text(["<U+202E>", "<U+200B>"])
    alarm = tab.card().locator(".alarm")
    expect(alarm).to_contain_text("text direction control <U+202E>")
    expect(alarm).to_contain_text("look-alike letter <U+0441>")


@pytest.mark.spec("H2")
def test_a_long_command_must_be_scrolled_through_before_yes_is_possible(served: Served, windows: Windows) -> None:
    lines = "\n".join(f"touch step{number}" for number in range(60))
    tab = windows.open()
    tab.begin(served.play(asks_for(shell(lines)), says("Done.")), served.project())
    yes = tab.card().get_by_role("button", name="Yes, once")
    always = tab.card().get_by_role("button", name="Always")
    expect(yes).to_be_disabled()
    expect(always).to_be_disabled()
    expect(tab.card().get_by_role("button", name="No")).to_be_enabled()
    exact = tab.card().locator(".exact")
    exact.evaluate("box => { box.scrollTop = box.scrollHeight }")  # a jump to the end is not reading
    expect(tab.card()).to_contain_text("% seen")
    expect(yes).to_be_disabled()
    exact.evaluate("box => { box.scrollTop = 0 }")
    while yes.is_disabled():
        exact.evaluate("box => { box.scrollTop += box.clientHeight * 0.8 }")
        tab.page.wait_for_timeout(30)
    expect(yes).to_be_enabled()


@pytest.mark.spec("H2")
@pytest.mark.parametrize(
    ("height", "count", "scrolled"),
    [(1200, 37, False), (1200, 45, True), (720, 22, True)],
    ids=["a little too long", "too long", "no place for more"],
)
def test_a_change_that_is_a_little_too_long_is_shown_wholly_where_the_whole_card_is_in_view(
    served: Served, windows: Windows, height: int, count: int, scrolled: bool
) -> None:
    lines = "".join(f"line {number}\n" for number in range(count))
    tab = windows.open(viewport={"width": 1200, "height": height})
    tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
    change = tab.card().get_by_role("region", name="The change")
    expect(change).to_contain_text(f"line {count - 1}")
    yes = tab.card().get_by_role("button", name="Yes, once")
    expect(yes).to_be_enabled(enabled=not scrolled)
    shown, whole = change.evaluate("box => [box.clientHeight, box.scrollHeight]")
    assert whole > 0.6 * height and shown == (0.6 * height if scrolled else whole)
    if not scrolled:
        expect(change.get_by_text("line 0")).to_be_in_viewport()
        expect(change.get_by_text(f"line {count - 1}")).to_be_in_viewport()


@pytest.mark.spec("H2")
@pytest.mark.parametrize(("width", "height"), [(1200, 720), (1200, 480), (390, 740)])
def test_a_card_larger_than_the_view_is_shown_from_its_top_and_yes_waits_until_all_was_on_screen(
    served: Served, windows: Windows, width: int, height: int
) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    tab = windows.open(viewport={"width": width, "height": height})
    tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
    change = tab.card().get_by_role("region", name="The change")
    expect(change.get_by_text("line 0")).to_be_in_viewport()
    yes, area = tab.card().get_by_role("button", name="Yes, once"), tab.page.locator(".scroll-area")
    while yes.is_disabled():
        area.evaluate("area => { area.scrollTop += 40 }")
        change.evaluate("box => { box.scrollTop += 40 }")
        tab.page.wait_for_timeout(30)
    expect(change.get_by_text("line 19")).to_be_in_viewport()
    expect(yes).to_be_enabled()


@pytest.mark.spec("H2")
def test_a_question_below_the_view_says_why_yes_is_not_possible_yet(served: Served, windows: Windows) -> None:
    lines = "".join(f"line {number}\n" for number in range(37))
    tab = windows.open("pia", owner="pia", viewport={"width": 1200, "height": 1200})
    for _ in range(2):
        tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
        expect(tab.card().get_by_text("line 36")).to_be_visible()
    tab.page.get_by_role("link", name="Inbox").click()
    above, below = tab.page.locator("article.card").nth(0), tab.page.locator("article.card").nth(1)
    expect(above.get_by_role("button", name="Yes, once")).to_be_enabled()
    expect(below.get_by_role("button", name="Yes, once")).to_be_disabled()
    expect(below.get_by_text("Scroll to the end before you approve")).to_be_visible()
    below.get_by_text("line 36").scroll_into_view_if_needed()
    expect(below.get_by_role("button", name="Yes, once")).to_be_enabled()


@pytest.mark.spec("H2")
def test_what_was_only_scrolled_out_of_view_was_not_seen(served: Served, windows: Windows) -> None:
    lines = "".join(f"line {number}\n" for number in range(60))
    tab = windows.open(viewport={"width": 1200, "height": 480})
    tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
    change = tab.card().get_by_role("region", name="The change")
    expect(change.get_by_text("line 0")).to_be_in_viewport()
    tab.card().evaluate("card => { card.style.paddingBottom = '1000px' }")
    tab.page.locator(".scroll-area").evaluate("area => { area.scrollTop = area.scrollHeight }")
    expect(change).not_to_be_in_viewport()
    for _ in range(60):
        change.evaluate("box => { box.scrollTop += 40 }")
        tab.page.wait_for_timeout(10)
    expect(tab.card().get_by_role("button", name="Yes, once")).to_be_disabled()


@pytest.mark.spec("H2")
def test_typing_ahead_answers_nothing(served: Served, windows: Windows) -> None:
    project = served.project()
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x")), says("Done.")), project)
    expect(tab.card()).to_be_visible()
    page = tab.page
    page.keyboard.type("yyyy")  # the card has no focus
    page.get_by_label("Message").fill("")
    page.get_by_label("Message").press_sequentially("yes y ")  # a field has it
    tab.card().focus()
    page.keyboard.press("y")  # too soon after the last key
    page.keyboard.press("Control+y")
    page.evaluate(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }))"
    )  # not a person
    expect(tab.card()).to_be_visible()
    assert list(project.iterdir()) == []
    page.wait_for_timeout(450)
    page.keyboard.press("y")
    tab.sees("Done.")
    assert (project / "x").exists()


@pytest.mark.spec("H2")
def test_a_question_can_be_answered_with_the_keyboard_alone(served: Served, windows: Windows) -> None:
    project = served.project()
    model = served.play(asks_for(shell("touch x")))
    tab = windows.open()
    page = tab.page
    tab.begin(model, project)
    expect(tab.card()).to_be_visible()
    page.keyboard.press("q")
    expect(tab.card()).to_be_focused()
    expect(tab.card().get_by_role("button", name="Yes, once")).to_be_enabled()
    page.wait_for_timeout(450)
    page.keyboard.press("n")
    expect(page.get_by_label(re.compile("Why not"))).to_be_focused()
    page.keyboard.type("not today")
    page.keyboard.press("Enter")
    expect(page.locator(".call.cancelled")).to_be_visible()
    page.locator("body").press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("i")
    expect(page).to_have_url(re.compile("#/inbox$"))
    page.keyboard.press("c")
    expect(page.get_by_role("dialog", name="New session")).to_be_visible()


def _in_page(page: Page, module: str, call: str, value: object) -> object:
    return page.evaluate(f"value => import('/page/js/{module}.js').then(found => found.{call})", value)


@pytest.mark.spec("H4")
def test_the_page_hides_exactly_the_characters_that_the_terminal_hides(windows: Windows) -> None:
    page = windows.open().page
    planes = [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1100), *range(0xFFFF0, 0x100000), 0x10FFFF]
    texts = [f"a{chr(code)}b" for code in planes if code != 10]
    texts += ["👩\u200d💻 ok", "3\u202f000", "« x\u00a0»", "#\ufe0f\u20e3", "می\u200cخواهم", "日\u3000本"]
    shown = _in_page(page, "visible", "visible(value)", "\n".join(texts))
    assert isinstance(shown, str)
    pairs = zip(texts, shown.split("\n"), strict=True)
    wrong = [(text, mine) for text, mine in pairs if mine != make_safe(text, "output").text]
    assert wrong[:10] == []


@pytest.mark.spec("D3")
def test_binary_output_is_shown_as_bytes_received(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x; head -c 5000 /dev/zero")), says("Done.")), served.project())
    tab.yes()
    tab.sees("Done.")
    expect(tab.page.get_by_role("region", name="Output")).to_have_text("[binary output: 5,000 bytes received]")


@pytest.mark.spec("D3")
def test_binary_output_is_counted_while_it_comes(served: Served, windows: Windows) -> None:
    project, tab = served.project(), windows.open()
    command = "head -c 5000 /dev/zero; until [ -e go ]; do sleep 0.05; done"
    tab.begin(served.play(asks_for(shell(command)), says("Done.")), project)
    tab.yes()
    expect(tab.page.get_by_role("region", name="Output")).to_have_text("[binary output: 5,000 bytes received]")
    (project / "go").touch()
    tab.sees("Done.")


def test_terminal_output_looks_as_it_did_in_the_end(windows: Windows) -> None:
    page = windows.open().page
    text = "10%\r\x1b[K100%\n\x1b[31mred\x1b[0m \x1b]0;title\x07plain\x1b[2J\nab\x08c\n"
    assert (
        _in_page(page, "terminal", "settled(value).replace(/\\x1b\\[[0-9;]*m/g, '')", text) == "100%\nred plain\nac\n"
    )


# --- small screens and readers ---


@pytest.mark.spec("H2")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_without_sideways_scrolling(served: Served, windows: Windows, scheme: str) -> None:
    wide = "x" * 300
    model = served.play(asks_for(shell(f"touch {wide[:200]}"), write("wide.txt", f"{wide}\n"), text=f"`{wide}` {wide}"))
    session = windows.open().begin(model, served.project())
    phone = windows.open("ann", hash=f"#/s/{session}", viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = phone.page
    expect(phone.card()).to_have_count(2)
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    assert page.evaluate("document.querySelector('.scroll-area').scrollWidth") <= 390
    for button in phone.card().first.locator(".answers button").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44
    expect(page.get_by_role("button", name="New session")).to_be_hidden()
    page.get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("button", name="New session")).to_be_visible()


@pytest.mark.spec("H2")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(served: Served, windows: Windows, scheme: str) -> None:
    project = served.project(m__py="import os\n\n\ndef f():\n    return 'a'  # c\n")
    change = write("m.py", "import os\n\n\nclass F:\n    x: int = 2\n", "w")
    model = served.play(
        {
            "chunks": [
                {"thought": "**Hm**\nwell"},
                {"text": "> quote\n\n`code` [link](https://x.example)"},
                {"call": change},
            ]
        },
        asks_for(shell("touch a; rm -rf b \u202e", "r"), {"name": "nope", "args": {}, "id": "n"}),
    )
    tab = windows.open("ann", color_scheme=scheme)
    tab.begin(model, project)
    expect(tab.card().get_by_role("group", name="Your answer")).to_be_visible()
    assert tab.faint_texts() == []
    tab.yes()
    expect(tab.card("Look closely").get_by_role("group", name="Your answer")).to_be_visible()
    assert tab.faint_texts() == []
    tab.press("Always") if tab.card().get_by_role("button", name="Always").count() else tab.press("No")
    assert tab.faint_texts() == []


@pytest.mark.spec("H2")
def test_a_screen_reader_finds_landmarks_names_and_states(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x"))), served.project())
    page = tab.page
    card = page.get_by_role("article", name="Assent asks: Run a command")
    expect(card).to_be_visible()
    expect(card.get_by_role("group", name="Your answer")).to_be_visible()
    expect(card.get_by_role("region", name="The exact command")).to_be_visible()
    for role in ("main", "navigation", "log"):
        expect(page.get_by_role(role)).to_have_count(1)  # pyright: ignore[reportArgumentType]
    assert tab.unnamed() == []
