"""A command that asks for input, in the page: a person types it, and it is recorded nowhere."""

import re
from hashlib import sha256

import pytest
from playwright.sync_api import expect

from support.page import Served, Windows, needs_browser
from support.program import asks_for, says, shell

pytestmark = [needs_browser, pytest.mark.spec("D2")]
SECRET = "xyzzy-42-plugh"


def test_a_password_is_typed_in_the_page_and_is_nowhere_on_disk(served: Served, windows: Windows) -> None:
    command = 'read -rs -p "Password: " word; echo "typed: $word"; printf %s "$word" | sha256sum'
    tab = windows.open("ann")
    tab.begin(served.play(asks_for(shell(command)), says("Done.")), served.project())
    tab.yes()
    field = tab.page.get_by_label("The command is waiting for your input: Password:")
    expect(field).to_have_attribute("type", "password")
    tab.page.reload()  # the prompt is still there
    field.fill(SECRET)
    tab.page.get_by_role("button", name="Send", exact=True).last.click()
    tab.sees("Done.")
    tab.sees(sha256(SECRET.encode()).hexdigest())
    assert SECRET not in tab.page.content()
    files = [path for path in served.home.parent.rglob("*") if path.is_file()]
    assert any(b"Password: " in path.read_bytes() for path in files), "the log is among them"
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


@pytest.mark.spec("H3")
def test_a_command_that_waits_for_input_is_in_the_inbox_and_the_title(served: Served, windows: Windows) -> None:
    tab, other = windows.open("ann"), windows.open("ann")
    tab.begin(served.play(asks_for(shell('read -rs -p "Password: " word')), says("Done.")), served.project())
    tab.yes()
    tab.page.get_by_role("button", name="Show the command that is waiting for your input").click()
    expect(tab.page.locator("form input[type=password]")).to_be_focused()
    other.go("#/inbox")
    waiting = other.page.get_by_text("A command is waiting for your input.")
    expect(waiting).to_be_visible()
    expect(other.page).to_have_title("(1) Inbox · Assent")
    expect(other.page.get_by_role("navigation").get_by_label("waiting for you")).to_be_visible()
    waiting.get_by_role("link").click()
    field = other.page.get_by_label("The command is waiting for your input: Password:")
    field.fill(SECRET)
    field.press("Enter")
    other.sees("Done.")
    expect(other.page).not_to_have_title(re.compile(r"\(1\)"))
    other.go("#/inbox")
    other.sees("Nothing is waiting")
    assert tab.complaints == other.complaints == []


@pytest.mark.spec("N4")
@pytest.mark.parametrize("role", ["viewer", "approver"])
def test_only_an_operator_is_offered_to_type_or_to_stop_a_command(served: Served, windows: Windows, role: str) -> None:
    tab, other = windows.open("ann"), windows.open(f"some-{role}", role)
    session = tab.begin(served.play(asks_for(shell('read -rs -p "Password: " word')), says("Done.")), served.project())
    tab.yes()
    expect(tab.page.get_by_role("button", name="Stop this call")).to_be_visible()
    other.go("#/inbox")
    other.sees("A command is waiting for the input of an operator.")
    other.go(f"#/s/{session}")
    other.sees("Only an operator can type what the command is waiting for.")
    expect(other.page.get_by_role("button", name=re.compile("Stop|Send|input"))).to_have_count(0)
    expect(other.page.locator("input[type=password]")).to_have_count(0)


def test_a_low_window_keeps_half_of_its_height_for_the_conversation_while_a_command_waits(
    served: Served, windows: Windows
) -> None:
    tab = windows.open("ann", viewport={"width": 640, "height": 400})
    tab.begin(served.play(asks_for(shell('read -r -p "Go on? [y/N] " word')), says("Done.")), served.project())
    tab.yes()
    expect(tab.page.get_by_role("button", name="End of input")).to_be_visible()
    assert tab.page.evaluate("document.querySelector('.foot').clientHeight") < 80, "one line"
    assert tab.page.evaluate("document.querySelector('.scroll-area').clientHeight / innerHeight") > 0.6


def test_the_input_of_a_command_can_be_ended_in_the_page(served: Served, windows: Windows) -> None:
    tab = windows.open("ann")
    model = served.play(asks_for(shell('read -r -p "Go on? [y/N] " word || echo "it ended"')), says("Done."))
    tab.begin(model, served.project())
    tab.yes()
    tab.page.get_by_role("button", name="End of input").click()
    tab.sees("it ended")


@pytest.mark.spec("D6")
def test_background_commands_are_listed_and_stopped_in_the_page(served: Served, windows: Windows) -> None:
    call = shell("exec sleep 1000")
    tab = windows.open("ann")
    model = served.play(asks_for({**call, "args": {**call["args"], "is_background": True}}), says("Done."))
    tab.begin(model, served.project())
    expect(tab.card()).to_contain_text("in the background")
    tab.yes()
    listed = tab.page.get_by_role("list", name="Background commands")
    expect(listed).to_contain_text("exec sleep 1000")
    listed.get_by_role("button", name="Stop").click()
    expect(listed).to_have_count(0)
    tab.sees("A background command ended (stopped)")


@pytest.mark.spec("D6")
def test_a_background_command_is_kept_in_the_page_and_still_shown_as_kept_after_a_reload(
    served: Served, windows: Windows
) -> None:
    call = shell("exec sleep 1000")
    tab = windows.open("ann")
    model = served.play(asks_for({**call, "args": {**call["args"], "is_background": True}}), says("Done."))
    tab.begin(model, served.project())
    tab.yes()
    listed = tab.page.get_by_role("list", name="Background commands")
    listed.get_by_role("button", name="Keep").click()
    expect(listed).to_contain_text("kept")
    tab.page.reload()
    expect(listed).to_contain_text("kept")
    expect(listed.get_by_role("button", name="Keep")).to_have_count(0)
    listed.get_by_role("button", name="Stop").click()
    tab.sees("A background command ended (stopped)")
