"""Writing in the page: files and commands are completed, what was asked before comes back, nothing written is lost."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from support.page import Served, Tab, Windows, needs_browser
from support.program import asks_for, says, shell

pytestmark = needs_browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def box(tab: Tab) -> Locator:
    return tab.page.get_by_label("Message", exact=True)


def options(tab: Tab) -> Locator:
    return tab.page.get_by_role("listbox").get_by_role("option")


def talking(served: Served, tab: Tab, *replies: str, **files: str) -> str:
    """A session that has answered once; the box has the focus."""
    model = served.play(says("Hello."), *(says(reply) for reply in replies))
    session = tab.begin(model, served.project(**files), "first words")
    tab.sees("Hello.")
    expect(tab.page.get_by_text("Ready")).to_be_visible()
    box(tab).focus()
    return session


def prompts(tab: Tab) -> Locator:
    return tab.page.get_by_label("Prompt", exact=True)


# --- files ---


@pytest.mark.spec("H2")
def test_a_file_is_completed_after_an_at_sign(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab, "Read.", main__py="x", maple__txt="y", **{"a b__txt": "z"})
    keys = tab.page.keyboard
    keys.type("Look at @ma")
    expect(options(tab)).to_have_text(["@main.py", "@maple.txt"])
    expect(box(tab)).to_have_attribute("aria-expanded", "true")
    assert box(tab).get_attribute("aria-activedescendant") == options(tab).first.get_attribute("id")
    expect(options(tab).first).to_have_attribute("aria-selected", "true")
    keys.press("ArrowDown")
    expect(options(tab).last).to_have_attribute("aria-selected", "true")
    assert box(tab).get_attribute("aria-activedescendant") == options(tab).last.get_attribute("id")
    keys.press("Enter")
    expect(box(tab)).to_have_value("Look at @maple.txt ")
    expect(options(tab)).to_have_count(0)
    expect(box(tab)).not_to_have_attribute("role", "combobox")
    keys.type("and @a b")  # a blank ends a plain name
    expect(options(tab)).to_have_count(0)
    keys.press("Backspace")
    keys.press("Backspace")
    expect(options(tab).filter(has_text="@a b.txt")).to_be_visible()
    options(tab).filter(has_text="@a b.txt").click()
    expect(box(tab)).to_have_value('Look at @maple.txt and @"a b.txt" ')
    expect(box(tab)).to_be_focused()
    keys.type("please")
    keys.press("Enter")
    expect(prompts(tab).last).to_contain_text('Look at @maple.txt and @"a b.txt" please')
    assert tab.complaints == []


@pytest.mark.spec("H2")
def test_escape_closes_the_offers_and_tab_takes_one_in_the_middle_of_a_text(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab, main__py="x")
    keys = tab.page.keyboard
    keys.type("see  for more")
    for _ in range(len(" for more")):
        keys.press("ArrowLeft")
    keys.type("@m")
    expect(options(tab)).to_have_count(1)
    keys.press("Escape")
    expect(options(tab)).to_have_count(0)
    expect(box(tab)).to_be_focused()
    keys.type("a")
    expect(options(tab)).to_have_count(1)
    keys.press("Tab")
    keys.type("|")
    expect(box(tab)).to_have_value("see @main.py |for more")


def test_names_of_files_are_only_text(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab, **{"<img src=x onerror=alert(1)>": "x", "safe\u202etxt": "y"})
    tab.page.keyboard.type("@")
    expect(options(tab)).to_have_text(["@safe<U+202E>txt", "@<img src=x onerror=alert(1)>"])
    assert tab.page.locator("img[src=x]").count() == 0
    assert tab.complaints == []


def test_an_address_of_a_person_is_no_file(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab, "Sent.", example__org="x")
    tab.page.keyboard.type("ask ann@exam")
    tab.page.keyboard.press("Enter")
    expect(prompts(tab).last).to_contain_text("ask ann@exam")


@pytest.mark.spec("H2")
def test_a_file_is_taken_with_a_finger_on_a_phone(served: Served, windows: Windows) -> None:
    desktop = windows.open()
    session = talking(served, desktop, main__py="x")
    phone = windows.open("ann", hash=f"#/s/{session}", **PHONE)
    box(phone).tap()
    phone.page.keyboard.type("see @mai")
    option = options(phone).first
    expect(option).to_be_visible()
    size = option.bounding_box()
    assert size is not None and size["height"] >= 44
    option.tap()
    expect(box(phone)).to_have_value("see @main.py ")
    expect(box(phone)).to_be_focused()


# --- commands ---


@pytest.mark.spec("H2")
def test_a_command_and_its_argument_are_completed_and_carried_out(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab)
    keys = tab.page.keyboard
    keys.type("/mo")
    expect(options(tab)).to_have_text([re.compile("^/mode"), re.compile("^/model")])
    keys.press("Enter")
    expect(box(tab)).to_have_value("/mode ")
    expect(options(tab)).to_have_count(6)
    keys.type("pl")
    expect(options(tab)).to_have_text([re.compile("^plan")])
    keys.press("Enter")
    tab.sees("Mode plan, set by you.")
    expect(box(tab)).to_have_value("")
    expect(prompts(tab)).to_have_count(1)


@pytest.mark.spec("H2")
@pytest.mark.parametrize(
    ("typed", "window"),
    [
        ("/undo", "Undo a change"),
        ("/delete", "Delete this session?"),
        ("/help", "Keyboard shortcuts"),
        ("/policy", "Always allowed"),
        ("/mode yolo", "Run everything without asking?"),
    ],
)
def test_commands_open_the_windows_of_the_page(served: Served, windows: Windows, typed: str, window: str) -> None:
    tab = windows.open()
    talking(served, tab)
    tab.page.keyboard.type(typed)
    expect(options(tab)).to_have_count(1)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("dialog", name=window)).to_be_visible()
    expect(box(tab)).to_have_value("")


def test_the_link_to_a_new_session_leads_to_its_prompt_also_from_there(windows: Windows) -> None:
    tab = windows.open()
    start = tab.page.get_by_label("What should be done?")
    for _ in range(2):
        tab.page.get_by_role("link", name="New session", exact=True).click()
        expect(start).to_be_focused()
    tab.page.keyboard.type("show it")
    expect(start).to_have_value("show it")


def test_a_command_leads_to_the_start_of_a_new_session(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab)
    tab.page.keyboard.type("/new")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_label("What should be done?")).to_be_focused()


def test_a_session_is_renamed_by_a_command(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab)
    tab.page.keyboard.type("/rename From the keys")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("heading", name="From the keys")).to_be_visible()
    expect(prompts(tab)).to_have_count(1)


@pytest.mark.spec("H2")
def test_what_is_wrong_with_a_command_is_said_and_it_stays_to_be_mended(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab)
    keys = tab.page.keyboard
    for typed, wrong in {
        "/nonsense": "There is no command /nonsense",
        "/mode sideways": "The modes are",
        "/model scripted:/nowhere.json": "nowhere",
        "/stop": "Nothing is running.",
    }.items():
        box(tab).fill("")
        keys.type(typed)
        keys.press("Enter")
        expect(tab.page.get_by_role("alert")).to_contain_text(wrong)
        expect(box(tab)).to_have_value(re.compile(re.escape(typed)))
    expect(prompts(tab)).to_have_count(1)


@pytest.mark.parametrize("typed", ["//undo is what I mean", "/usr/bin/env is missing"])
def test_a_path_or_two_slashes_are_said_to_the_model(served: Served, windows: Windows, typed: str) -> None:
    tab = windows.open()
    talking(served, tab, "I see.")
    tab.page.keyboard.type(typed)
    tab.page.keyboard.press("Enter")
    expect(prompts(tab).last).to_contain_text(typed)


# --- what was written before ---


@pytest.mark.spec("H2")
def test_the_arrows_walk_through_what_was_asked_and_back_to_the_draft(served: Served, windows: Windows) -> None:
    tab = windows.open()
    talking(served, tab, "Two.")
    keys = tab.page.keyboard
    keys.type("second\nwords")  # the line end sends, and who types on loses nothing
    expect(prompts(tab)).to_have_count(2)
    expect(box(tab)).to_have_value("words")
    keys.press("ArrowUp")  # to the beginning of the line, as anywhere
    expect(box(tab)).to_have_value("words")
    keys.press("ArrowUp")
    expect(box(tab)).to_have_value("second")
    keys.press("ArrowUp")
    expect(box(tab)).to_have_value("first words")
    keys.press("ArrowUp")
    expect(box(tab)).to_have_value("first words")
    keys.press("ArrowDown")
    expect(box(tab)).to_have_value("second")
    keys.press("ArrowDown")
    expect(box(tab)).to_have_value("words")
    keys.press("ArrowDown")
    expect(box(tab)).to_have_value("words")


@pytest.mark.spec("H2")
def test_a_draft_outlives_another_session_and_a_reload_but_not_the_log_out(served: Served, windows: Windows) -> None:
    tab = windows.open()
    session = talking(served, tab)
    box(tab).fill("half a thou")
    tab.page.get_by_role("link", name="Inbox").click()
    expect(box(tab)).to_have_count(0)
    tab.go(f"#/s/{session}")
    expect(box(tab)).to_have_value("half a thou")
    tab.page.reload()
    expect(box(tab)).to_have_value("half a thou")
    leaving = windows.open("lea", owner="lea")
    talking(served, leaving)
    box(leaving).fill("secret")
    leaving.page.get_by_role("button", name="Log out").click()
    leaving.sees("Not logged in")
    assert leaving.page.evaluate("Object.keys(sessionStorage)") == []


@pytest.mark.spec("H2")
def test_who_must_log_in_again_finds_the_draft_and_the_sessions(served: Served, windows: Windows) -> None:
    tab = windows.open("zoe", owner="zoe")
    talking(served, tab)
    box(tab).fill("half a thou")
    listed = tab.page.get_by_role("navigation").get_by_role("listitem")
    expect(listed).to_have_count(1)
    served.run("serve", "token", "remove", "zoe")
    box(tab).press("Enter")
    tab.sees("Not logged in")
    tab.page.get_by_label(re.compile("paste a token")).fill(served.token("zoe-again", "operator", "zoe"))
    tab.page.get_by_role("button", name="Log in").click()
    expect(box(tab)).to_have_value("half a thou")
    expect(listed).to_have_count(1)


# --- what waits ---


@pytest.mark.spec("H2")
def test_everything_that_waits_is_shown_and_can_be_edited_or_taken_back(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x")), says("Done."), says("More.")), served.project())
    expect(tab.card()).to_be_visible()
    for text in ("one", "two", "three"):
        box(tab).fill(text)
        tab.page.keyboard.press("Enter")
        expect(box(tab)).to_have_value("")
    waiting = tab.page.get_by_label("Waiting prompt")
    expect(waiting).to_have_count(3)
    tab.sees("3 queued")
    waiting.nth(1).get_by_role("button", name="Edit").click()
    expect(box(tab)).to_have_value("two")
    expect(box(tab)).to_be_focused()
    expect(waiting).to_have_count(2)
    tab.page.get_by_role("button", name="Stop", exact=True).click()
    tab.sees("Stopped.")
    expect(waiting.first).to_contain_text("Held: the turn was stopped")
    tab.sees("2 held")
    expect(tab.page.get_by_role("button", name="Send what is held")).to_have_count(1)  # it sends all of them
    waiting.nth(1).get_by_role("button", name="Withdraw").click()
    expect(waiting).to_have_count(1)
    expect(waiting).to_contain_text("one")
    expect(tab.page.get_by_role("navigation").locator("[aria-current]").get_by_role("img", name="idle")).to_be_visible()
    waiting.get_by_role("button", name="Send what is held").click()
    expect(prompts(tab).last).to_contain_text("one")
    expect(box(tab)).to_have_value("two")


@pytest.mark.spec("H2")
def test_a_message_that_steers_says_so_and_is_read_before_the_turn_is_over(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x")), says("Blue, then."), says("Too late.")), served.project())
    expect(tab.card()).to_be_visible()
    box(tab).fill("make it blue")
    tab.page.keyboard.press("Control+Enter")
    expect(tab.page.get_by_label("Waiting prompt")).to_contain_text("Read at the next step")
    tab.yes()
    tab.sees("Blue, then.")
    said = tab.page.get_by_role("log", name="Conversation").inner_text()
    assert said.index("make it blue") < said.index("Blue, then.")  # in the queue, it would come after the turn
    assert tab.complaints == []


def test_what_began_in_the_meantime_cannot_be_taken_back_and_this_is_said(served: Served, windows: Windows) -> None:
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("touch x")), says("Done.")), served.project())
    expect(tab.card()).to_be_visible()
    box(tab).fill("late")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_label("Waiting prompt")).to_be_visible()
    tab.page.route("**/queue/*", lambda route: route.continue_(url=route.request.url + "x"))
    tab.page.get_by_role("button", name="Edit", exact=True).click()
    tab.sees("it is no longer in the queue")
    expect(box(tab)).to_have_value("")


def test_the_page_says_why_a_model_request_is_repeated(windows: Windows, served: Served) -> None:
    """A server that was never reached has not broken off a reply."""
    tab = windows.open()
    tab.begin("gemini-2.5-flash", served.project())
    tab.sees(re.compile(r"cannot reach 127\.0\.0\.1.*; trying again in \d+ s"))
    expect(tab.page.get_by_text("the stream broke")).to_have_count(0)
