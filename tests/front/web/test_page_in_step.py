"""Always the same picture: two browsers, reload, a server that dies and comes back, the inbox over all sessions."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.page import Served, Tab, Windows, a_server, needs_browser
from support.program import asks_for, says, shell, write

pytestmark = needs_browser


def picture(tab: Tab) -> str:
    """What a reader of the conversation is told, without what depends on the moment."""
    expect(tab.page.get_by_text("Loading the")).to_have_count(0)
    return tab.page.get_by_role("log").aria_snapshot()


def named(tab: Tab, name: str) -> str:
    """The picture, where everyone is called by their name; one's own acts are told as one's own."""
    return re.sub(r"\b(by )?you\b", rf"\1{name}", picture(tab))


@pytest.mark.spec("H5")
def test_two_browsers_see_the_same_and_the_slower_one_is_told_who_answered(served: Served, windows: Windows) -> None:
    project = served.project()
    mine, other = windows.open("ann"), windows.open("bob")
    model = served.play(asks_for(shell("touch a; echo hello"), shell("touch b", "c2")), says("Good."))
    session = mine.begin(model, project)
    other.go(f"#/s/{session}")
    expect(other.card()).to_have_count(2)
    for tab in (mine, other):
        expect(tab.card().get_by_role("group", name="Your answer")).to_have_count(2)
        for at in range(2):  # both were on screen for a moment
            expect(tab.card().nth(at).get_by_role("button", name="Yes, once")).to_be_enabled()
    assert named(mine, "ann") == named(other, "bob")
    mine.yes("echo hello")
    expect(other.card()).to_have_count(1)
    other.press("No", "touch b")
    other.page.keyboard.press("Enter")
    for tab in (mine, other):
        tab.sees("Good.")
        expect(tab.page.locator(".terminal", has_text="hello")).to_be_visible()
    mine.sees("Allowed once by you")
    other.sees("Allowed once by ann")
    assert named(mine, "ann") == named(other, "bob")


@pytest.mark.spec("H2")
def test_a_reload_in_the_middle_of_a_reply_and_of_a_command_shows_the_same(served: Served, windows: Windows) -> None:
    project = served.project()
    begun = [{"thought": "**Slowly**\nword by word"}, {"text": "Half a sent"}]
    held = {"chunks": [*begun, {"pause_ms": 4000}, {"text": "ence."}]}
    command = "echo first line; read x < go; echo last line"
    model = served.play(asks_for(shell(f"mkfifo go; {command}")), held)
    tab = windows.open()
    tab.begin(model, project)
    tab.yes()
    expect(tab.page.locator(".call.executing .terminal")).to_have_text(re.compile("first line"))
    before = picture(tab)
    tab.page.reload()
    expect(tab.page.locator(".call.executing .terminal")).to_have_text(re.compile("first line"))
    assert picture(tab) == before
    Path(project / "go").write_text("x\n")
    tab.sees("Half a sent")
    before = picture(tab)
    tab.page.reload()
    tab.sees("Half a sent")
    assert picture(tab) == before
    tab.sees("Half a sentence.")
    expect(tab.page.locator(".call.success .terminal")).to_have_text(re.compile("first line\\s+last line"))


@pytest.mark.spec("H3")
def test_the_inbox_shows_what_waits_in_all_sessions_and_takes_the_answers(served: Served, windows: Windows) -> None:
    one, two = served.project(), served.project()
    tab = windows.open("ines", owner="ines")
    tab.begin(served.play(asks_for(shell("touch a")), says("A.")), one, "first session")
    expect(tab.card()).to_have_count(1)
    tab.begin(served.play(asks_for(write("b", "b\n")), says("B.")), two, "second session")
    expect(tab.card("Create")).to_have_count(1)
    expect(tab.page).to_have_title(re.compile(r"^\(2\)"))
    tab.page.get_by_role("link", name="Inbox").click()
    expect(tab.card()).to_have_count(2)
    tab.yes("touch a")
    expect(tab.card()).to_have_count(1)
    tab.yes("Create")
    tab.sees("Nothing is waiting")
    expect(tab.page).to_have_title("Inbox · Assent")
    assert (one / "a").exists() and (two / "b").read_text() == "b\n"


@pytest.mark.spec("H3")
def test_a_new_question_reaches_screen_readers_and_the_desktop(served: Served, windows: Windows) -> None:
    tab, other = windows.open("nora", owner="nora"), windows.open("nora", owner="nora")
    tab.page.evaluate(
        """() => {
            window.shown = [];
            window.Notification = class {
                static permission = "granted";
                constructor(title, what) { shown.push([title, what.body]); }
            };
            Object.defineProperty(document, "hidden", { value: true });
        }"""
    )
    project = served.project()
    other.begin(served.play(asks_for(shell("touch <b>evil</b>"))), project)
    expect(tab.page.locator("[aria-live=assertive]")).to_have_text(
        re.compile("A question is waiting: run a command in")
    )
    assert tab.page.evaluate("window.shown") == [["Assent asks", f"May it run a command in {project.name}?"]]
    other.press("No")
    other.page.keyboard.press("Enter")


@pytest.mark.spec("H5")
def test_of_many_hidden_tabs_one_keeps_its_connection_and_the_others_catch_up(served: Served, windows: Windows) -> None:
    hide = "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); "
    hide += "document.dispatchEvent(new Event('visibilitychange')); }"
    first, project = windows.open(), served.project()
    session = first.begin(served.play(asks_for(shell("touch x")), says("Done.")), project)
    second = windows.beside(first, f"#/s/{session}")
    expect(second.card()).to_be_visible()
    first.page.evaluate(hide, True)
    with second.page.expect_event("requestfailed", lambda request: "/stream" in request.url):
        second.page.evaluate(hide, True)
    first.yes()
    first.sees("Done.")
    expect(second.card()).to_be_visible()
    second.page.evaluate(hide, False)
    second.sees("Done.")


@pytest.mark.spec("H2")
@pytest.mark.spec("J1")
def test_a_card_outlives_kill_minus_nine_and_its_answer_counts_once(browser: Browser) -> None:
    with a_server() as served:
        windows = Windows(served, browser)
        project = served.project()
        tab = windows.open()
        session = tab.begin(served.play(asks_for(shell("echo ran >> ran.txt")), says("Done.")), project)
        expect(tab.card().get_by_role("button", name="Yes, once")).to_be_enabled()
        served.kill()
        tab.sees("The connection is lost.")
        tab.yes()  # sent again and again until someone takes it
        tab.sees("Sending your answer")
        served.start_server()
        tab.sees("Done.")
        expect(tab.page.get_by_text("The connection is lost.")).to_have_count(0)
        assert (project / "ran.txt").read_text() == "ran\n"
        assert len(served.events_of_type("approval.answered", session)) == 1
        windows.close()
