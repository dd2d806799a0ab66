"""What a hostile model, tool or file can do in the page: be read. And what careless fingers can do: nothing."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from assent.screen import make_safe
from support.page import Served, Tab, Windows, a_server, needs_browser
from support.program import asks_for, says, shell, write

pytestmark = needs_browser
EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def assert_only_text(tab: Tab) -> None:
    """Nothing ran, nothing was loaded, and there is no element that we did not make."""
    page = tab.page
    assert page.evaluate("window.hacked") is None
    foreign = "img, iframe, object, embed, script:not([src^='page/app.']), style, [onerror], [onclick], [ontoggle]"
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
        code = served.code()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{served.address}/#code={code}")
        expect(page.get_by_role("link", name="New session", exact=True)).to_be_visible()
        assert not any(url.endswith("/me") for url in requests), "the login has told it"
        assert code not in page.url and "code" not in page.url
        assert context.cookies() == []
        assert page.evaluate("document.cookie") == ""
        page.close()  # the login outlives the last tab
        page, second = context.new_page(), context.new_page()
        for tab in (page, second):
            tab.goto(served.address)
            expect(tab.get_by_role("link", name="New session", exact=True)).to_be_visible()
        stranger = browser.new_context().new_page()
        stranger.goto(f"{served.address}/#code={code}")
        expect(stranger.get_by_text("Not logged in")).to_be_visible()
        expect(stranger.get_by_role("alert")).to_be_visible()
        stranger.get_by_label(re.compile("paste a token")).fill(served.token("vic", "viewer"))
        stranger.get_by_role("button", name="Log in").click()
        expect(stranger.get_by_role("link", name="Inbox empty")).to_be_visible()
        expect(stranger.get_by_role("link", name="New session", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_text("Not logged in")).to_be_visible()
        expect(second.get_by_text("Not logged in")).to_be_visible()
        assert page.evaluate("localStorage.getItem('assent.token')") is None
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


AREA = "document.querySelector('.scroll-area')"


NEXT = """() => {
    const next = () => document.querySelector(".next-unseen");
    const before = next()?.textContent;
    let looks = 0;
    return new Promise((done) => {
        const look = () => {
            if (looks && next()?.textContent !== before) return done(null);
            if (looks++ % 100 === 0) next()?.click();
            setTimeout(look, 20);
        };
        look();
    });
}"""
"""Goes to the next unseen line, if there is one, and waits until fewer are left. Presses again every two seconds, as a
person would: on a busy machine the page may scroll by itself meanwhile.
"""


def _to_the_end(tab: Tab, yes: Locator) -> int:
    """Go from one unseen line to the next; returns how often."""
    steps = 0
    while yes.is_disabled():
        tab.page.evaluate(NEXT)
        steps += 1
    return steps


@pytest.mark.spec("H2")
def test_all_of_a_long_command_must_be_seen_before_yes_is_possible(served: Served, windows: Windows) -> None:
    lines = "\n".join(f"touch step{number}" for number in range(60))
    tab = windows.open(viewport={"width": 1280, "height": 600})
    tab.begin(served.play(asks_for(shell(lines)), says("Done.")), served.project())
    yes = tab.card().get_by_role("button", name="Yes, once")
    expect(yes).to_be_disabled()
    expect(tab.card().get_by_role("button", name="Always")).to_be_disabled()
    expect(tab.card().get_by_role("button", name="No")).to_be_enabled()
    tab.page.evaluate(f"{AREA}.scrollTop = {AREA}.scrollHeight")  # a jump to the end is not reading
    expect(tab.card().get_by_text("Asked because:")).to_be_in_viewport()
    tab.sees(re.compile(r"\d+ lines left"))
    expect(yes).to_be_disabled()
    assert _to_the_end(tab, yes) < 20
    expect(yes).to_be_enabled()


@pytest.mark.spec("H2")
@pytest.mark.parametrize("size", [(1280, 800), (390, 740), (640, 400)], ids=["screen", "phone", "zoom"])
def test_next_unseen_leads_through_a_change_and_counts_what_is_left(
    served: Served, windows: Windows, size: tuple[int, int]
) -> None:
    old = "".join(f"line {number}\n" for number in range(400))
    new = "".join(f"line {number}{'!' if number % 40 < 4 else ''}\n" for number in range(400))
    tab = windows.open(viewport={"width": size[0], "height": size[1]})
    project = served.project(a__txt=old)
    tab.begin(served.play(asks_for(write("a.txt", new)), says("Done.")), project)
    card = tab.card("Change a.txt")
    expect(card.get_by_role("button", name="Fold all")).to_be_visible()
    yes = card.get_by_role("button", name="Yes, once")
    expect(card.get_by_role("button", name="Next unseen")).to_be_visible()
    card.get_by_role("button", name="Fold all").click()  # what is folded was not seen, and is unfolded on the way
    expect(card.locator(".lines")).to_have_count(0)
    tab.page.locator("body").press("j")  # also if no question has the focus
    expect(card.locator(".lines")).not_to_have_count(0)
    _to_the_end(tab, yes)
    expect(yes).to_be_in_viewport(ratio=1)
    tab.yes()
    tab.sees("Done.")
    assert (project / "a.txt").read_text() == new


@pytest.mark.spec("H2")
def test_a_part_that_is_left_out_need_not_be_seen(served: Served, windows: Windows) -> None:
    old = "".join(f"line {number}\n" for number in range(300))
    new = old.replace("line 5\n", "five\n").replace("line 200\n", "".join(f"new {number}\n" for number in range(90)))
    project = served.project(a__txt=old)
    tab = windows.open()
    tab.begin(served.play(asks_for(write("a.txt", new)), says("Done.")), project)
    expect(tab.card().get_by_role("button", name="Yes, once")).to_be_disabled()
    tab.card().get_by_label("Include part 2 of 2").uncheck()
    tab.press("Yes, 1 of 2 parts")
    tab.sees("Done.")
    assert (project / "a.txt").read_text() == old.replace("line 5\n", "five\n")


@pytest.mark.spec("H2")
@pytest.mark.parametrize(("width", "height"), [(1200, 720), (1200, 480), (390, 740)])
def test_a_card_larger_than_the_view_is_shown_from_its_top_and_its_answers_stay_in_view(
    served: Served, windows: Windows, width: int, height: int
) -> None:
    lines = "".join(f"line {number}\n" for number in range(60))
    tab = windows.open(viewport={"width": width, "height": height})
    tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
    change = tab.card().get_by_role("region", name="The change")
    expect(change.get_by_text("line 0")).to_be_in_viewport()
    yes = tab.card().get_by_role("button", name="Yes, once")
    expect(yes).to_be_in_viewport(ratio=1)
    expect(yes).to_be_disabled()
    _to_the_end(tab, yes)
    expect(change.get_by_text("line 59")).to_be_in_viewport()


@pytest.mark.spec("H2")
def test_unseen_lines_near_the_end_are_not_scrolled_away(served: Served, windows: Windows) -> None:
    lines = "".join(f"line {number}\n" for number in range(60))
    tab = windows.open(viewport={"width": 390, "height": 740})
    tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project())
    left = tab.card().locator(".next-unseen")
    expect(left).to_have_text(re.compile(r"\b[1-5]\d lines left"))
    before = left.inner_text()
    to_end = f"{AREA}.scrollHeight - {AREA}.clientHeight - {AREA}.scrollTop"
    tab.page.evaluate(f"{AREA}.scrollTop += {to_end} - 30")
    expect(left).not_to_have_text(before)
    assert tab.page.evaluate(to_end) > 10


@pytest.mark.spec("H2")
def test_what_is_below_the_view_was_not_seen(served: Served, windows: Windows) -> None:
    lines = "".join(f"line {number}\n" for number in range(37))
    tab = windows.open("pia", owner="pia", viewport={"width": 1200, "height": 1200})
    for number in range(2):
        tab.begin(served.play(asks_for(write("a.txt", lines)), says("Done.")), served.project(), f"task {number}")
        expect(tab.page).to_have_title(re.compile(f"task {number}"))
        expect(tab.card().get_by_text("line 36")).to_be_visible()
    tab.page.get_by_role("link", name="Inbox").click()
    above, below = tab.page.locator("article.card").nth(0), tab.page.locator("article.card").nth(1)
    expect(above.get_by_role("button", name="Yes, once")).to_be_enabled()
    expect(below.get_by_role("button", name="Yes, once")).to_be_disabled()
    below.get_by_role("button", name="Next unseen").click()
    expect(below.get_by_role("button", name="Yes, once")).to_be_enabled()


@pytest.mark.spec("H2")
def test_there_is_one_scroll_area_and_the_conversation_has_at_least_half_of_the_height_at_twice_the_size(
    served: Served, windows: Windows
) -> None:
    lines = "".join(f"line {number}\n" for number in range(90))
    tab = windows.open(viewport={"width": 640, "height": 400})
    model = served.play(asks_for(shell("seq 300", "s")), asks_for(write("a.txt", lines)), says("Done."))
    tab.begin(model, served.project())
    expect(tab.card("a.txt")).to_be_visible()
    assert tab.page.evaluate(f"{AREA}.clientHeight / innerHeight") >= 0.5
    inner = f"[...{AREA}.querySelectorAll('*')].filter(one => one.scrollHeight > one.clientHeight + 1"
    inner += " && /auto|scroll/.test(getComputedStyle(one).overflowY) && one.clientHeight > 60).length"
    assert tab.page.evaluate(inner) == 0


STOP_THE_CLOCK = """
let now = performance.now();
performance.now = () => now;
Object.defineProperty(Event.prototype, "timeStamp", { get: () => now });
window.wait = (milliseconds) => { now += milliseconds; };
"""


@pytest.mark.spec("H2")
def test_typing_ahead_answers_nothing(served: Served, windows: Windows) -> None:
    project = served.project()
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x")), says("Done.")), project)
    expect(tab.card().get_by_role("button", name="Yes, once")).to_be_enabled()  # all of it has been seen
    page = tab.page
    page.evaluate(STOP_THE_CLOCK)  # however long this test takes between two keys
    page.evaluate("wait(500)")
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
    page.evaluate("wait(500)")
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
    expect(page.get_by_label("What should be done?")).to_be_focused()


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
    spinner = "\x1b[1G*\x1b[?25l\x1b[1G\x1b[0K\x1b[1mnpm\x1b[0m error\nab\x1b[5Gc\x1b[3D-\n"
    shown = _in_page(page, "terminal", "settled(value).replace(/\\x1b\\[[0-9;]*m/g, '')", text + spinner)
    assert shown == "100%\nred plain\nac\nnpm error\nab- c\n"


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
    expect(phone.card().first.get_by_role("button", name="Yes, once")).to_be_enabled()
    for button in phone.card().first.locator(".answers button").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44
    expect(page.get_by_role("link", name="New session", exact=True)).to_be_hidden()
    page.get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("link", name="New session", exact=True)).to_be_visible()


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
