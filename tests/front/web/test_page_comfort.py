"""Small things that a reader of the page would miss: copying, the way to the newest line, times, what is away."""

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from support.page import Served, Windows, a_server, needs_browser
from support.program import asks_for, says, shell

pytestmark = needs_browser


@pytest.mark.spec("H2")
def test_code_and_output_are_copied_as_they_are_shown(served: Served, windows: Windows) -> None:
    code = "Do this:\n\n```sh\nmake  \u202eall\n```\n"
    model = served.play(asks_for(shell("touch x; printf '\\033[31mred\\033[0m\\n'")), says(code))
    tab = windows.open("ann", permissions=["clipboard-read", "clipboard-write"])
    tab.begin(model, served.project())
    tab.yes()
    tab.sees("Do this:")
    copied = tab.page.get_by_role("button", name="Copied")
    for button, text in (("Copy output", "red\n"), ("Copy this code", "make  <U+202E>all")):
        tab.page.get_by_role("button", name=button).click()
        expect(copied).to_be_visible()
        expect(copied).to_have_count(0)  # it says so for a moment
        assert tab.page.evaluate("navigator.clipboard.readText()") == text


@pytest.mark.spec("H2")
def test_without_a_clipboard_of_its_own_the_page_copies_all_the_same(served: Served, windows: Windows) -> None:
    tab = windows.open("ann", permissions=["clipboard-read", "clipboard-write"])
    tab.page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('not here'))")
    tab.page.reload()
    tab.begin(served.play(says("```\nthe old way\n```")), served.project())
    copy = tab.page.get_by_role("button", name="Copy this code")
    copy.click()
    expect(tab.page.get_by_role("button", name="Copied")).to_be_visible()
    assert tab.page.evaluate("navigator.clipboard.readText()") == "the old way"


@pytest.mark.spec("H2")
def test_who_reads_further_up_stays_there_and_comes_back_with_one_click(served: Served, windows: Windows) -> None:
    lines = "\n\n".join(f"Paragraph {number}" for number in range(80))
    tab = windows.open()
    model = served.play(says(lines), says("From elsewhere."), says("The very last."))
    session = tab.begin(model, served.project())
    tab.sees("Paragraph 79")
    other = windows.open("bob", hash=f"#/s/{session}")
    newest = tab.page.get_by_role("button", name="Newest")
    expect(newest).to_have_count(0)
    tab.page.locator(".scroll-area").evaluate("area => { area.scrollTop = 0 }")
    expect(newest).to_be_visible()
    other.page.get_by_label("Message").fill("more")
    other.page.keyboard.press("Enter")
    last = tab.page.get_by_text("From elsewhere.")
    expect(last).to_be_attached()
    expect(last).not_to_be_in_viewport()
    newest.click()
    expect(last).to_be_in_viewport()
    expect(newest).to_have_count(0)
    tab.page.locator(".scroll-area").evaluate("area => { area.scrollTop = 0 }")
    expect(newest).to_be_visible()
    tab.page.get_by_label("Message").fill("and more")  # who says something wants to see what comes of it
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("The very last.")).to_be_in_viewport()


@pytest.mark.spec("H3")
def test_a_turn_that_ends_while_nobody_looks_is_told_in_the_title_and_on_the_desktop(
    served: Served, windows: Windows
) -> None:
    tab, other = windows.open("tess", owner="tess"), windows.open("theo", owner="tess")
    session = tab.begin(served.play(says("Hello."), says("Here it is.")), served.project(), "the task")
    tab.sees("Hello.")
    tab.page.evaluate(
        """() => {
            window.shown = [];
            window.Notification = class {
                static permission = "granted";
                constructor(title, what) { shown.push([title, what.body]); }
            };
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
        }"""
    )
    other.go(f"#/s/{session}")
    other.page.get_by_label("Message").fill("go on")
    other.page.keyboard.press("Enter")
    expect(tab.page).to_have_title("✓ the task · Assent")
    assert tab.page.evaluate("window.shown") == [["Done", "the task"]]
    tab.page.evaluate(
        """() => {
            Object.defineProperty(document, "hidden", { value: false, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }"""
    )
    expect(tab.page).to_have_title("the task · Assent")


def test_times_are_told_in_words_and_exactly_on_demand(served: Served, windows: Windows) -> None:
    tab = windows.open("tim", owner="tim")
    tab.begin(served.play(says("Hello.")), served.project())
    tab.sees("Hello.")
    listed = tab.page.get_by_role("navigation").locator("time")
    expect(listed).to_have_text("now")
    expect(listed).to_have_attribute("title", re.compile(r"\d{4}"))
    expect(tab.page.get_by_role("log").locator("time")).to_have_text(re.compile(r"\d\d:\d\d"))
    ago = "now => import('/page/js/times.js').then(times => [30, 90, 7300, 26 * 3600, 90 * 86400].map("
    ago += "age => times.ago(now - age, now)))"
    assert tab.page.evaluate(ago, 1_780_000_000 // 86400 * 86400 + 43200) == [
        "now",
        "1 min ago",
        "2 h ago",
        "yesterday",
        "Feb 27",
    ]


@pytest.mark.spec("H2")
@pytest.mark.spec("J1")
def test_a_message_written_while_the_server_is_away_arrives_once_it_is_back(browser: Browser) -> None:
    with a_server() as served:
        windows = Windows(served, browser)
        tab = windows.open()
        session = tab.begin(served.play(says("Hello."), says("Here again.")), served.project())
        tab.sees("Hello.")
        served.kill()
        tab.sees("The connection is lost.")
        tab.page.get_by_label("Message").fill("are you there?")
        tab.page.keyboard.press("Enter")
        tab.sees("Sending …")
        expect(tab.page.get_by_label("Message")).to_have_value("are you there?")
        served.start_server()
        tab.sees("Here again.")
        expect(tab.page.get_by_label("Message")).to_have_value("")
        assert len(served.events_of_type("prompt.submitted", session)) == 2
        windows.close()


def test_a_session_that_is_not_there_is_said_to_be_not_there(windows: Windows) -> None:
    tab = windows.open(hash="#/s/20260101-000000-0123456789abcdef")
    tab.sees("This session cannot be shown")
    tab.sees(re.compile("There is no session"))
    tab.page.get_by_role("button", name="All sessions").click()
    expect(tab.page).to_have_url(re.compile("#/$"))


def test_a_session_that_never_was_is_not_said_to_be_deleted_if_the_list_comes_first(windows: Windows) -> None:
    tab = windows.open()
    page, held = tab.page, list[Route]()
    page.goto("about:blank")
    page.route("**/sessions/*/events?*", lambda route: route.continue_() if held else held.append(route))
    with page.expect_response("**/sessions?limit=*") as listed:
        tab.go("#/s/20260101-000000-0123456789abcdef")
    assert listed.value.finished() is None
    page.evaluate("fetch('api/v1/sessions/20260101-000000-0123456789abcdef/events?after=0')")  # what it must not ask
    held[0].continue_()
    tab.sees(re.compile("There is no session"))


def test_a_link_that_was_cut_off_leads_somewhere(windows: Windows) -> None:
    tab = windows.open(hash="#/s/%E0%A4/q/%")
    tab.sees("This session cannot be shown")
    tab.sees("There is no such session")
    assert tab.complaints == []


@pytest.mark.spec("H2")
def test_enter_starts_a_session_and_its_title_in_the_tab_hides_no_character(served: Served, windows: Windows) -> None:
    tab = windows.open()
    start = tab.start(served.play(says("Done.")), served.project())
    prompt = start.get_by_label("What should be done?")
    prompt.fill("delete \u202etxt.exe")
    prompt.press("Enter")
    tab.sees("Done.")
    expect(tab.page).to_have_title("delete <U+202E>txt.exe · Assent")


@pytest.mark.spec("H2")
def test_a_table_breaks_no_word_on_a_phone(served: Served, windows: Windows) -> None:
    table = "| file | why |\n|---|---|\n| tests/test_parser.py | accepts empty input and reports the line of an error |"
    tab = windows.open(viewport={"width": 390, "height": 844})
    tab.begin(served.play(says(table)), served.project())
    cell = tab.page.get_by_role("cell", name="tests/test_parser.py")
    lines = "cell => { const all = new Range(); all.selectNodeContents(cell); return all.getClientRects().length }"
    expect(cell).to_be_visible()
    assert cell.evaluate(lines) == 1
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
