"""Who has access and who decided what, in the page."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect

from support.page import Served, Tab, Windows, needs_browser
from support.program import asks_for, says, write

pytestmark = needs_browser


def opened(tab: Tab, entry: str) -> Locator:
    tab.page.get_by_role("button", name="Server").click()
    tab.page.get_by_role("menuitem", name=entry).click()
    return tab.page.get_by_role("dialog", name=entry)


@pytest.mark.spec("N4")
def test_tokens_are_listed_and_one_is_revoked(served: Served, windows: Windows) -> None:
    tab = windows.open("tara", owner="tara")
    windows.open("tom", "viewer", owner="tara")
    window = opened(tab, "Who has access")
    expect(window.get_by_role("listitem")).to_have_count(2)
    row = window.get_by_role("listitem").filter(has_text="tom")
    expect(row).to_contain_text("viewer")
    expect(row).to_contain_text("last used now from 127.0.0.1")
    expect(window.get_by_role("listitem").filter(has_text="tara").first).to_contain_text("(you, here)")
    assert tab.faint_texts() == [] and tab.unnamed() == []
    row.get_by_role("button", name="Revoke the token of tom").press("Enter")
    expect(window.get_by_role("listitem")).to_have_count(1)
    expect(window.get_by_role("listitem").get_by_role("button")).to_be_focused()
    assert tab.complaints == []


@pytest.mark.spec("N4")
def test_a_viewer_is_not_offered_what_they_may_not_do(windows: Windows) -> None:
    tab = windows.open("vera", "viewer", owner="vera")
    tab.sees("None yet.")
    expect(tab.page.get_by_role("button", name="Server")).to_have_count(0)


@pytest.mark.spec("N4")
def test_whose_token_is_revoked_sees_the_login_at_once(served: Served, windows: Windows) -> None:
    tab = windows.open("rita", "viewer", owner="rita")
    tab.sees("None yet.")
    served.run("serve", "token", "revoke", "rita")
    tab.sees("Not logged in")
    tab.sees("This login or token is not valid, or has ended.")


@pytest.mark.spec("N2")
def test_the_record_shows_who_decided_what(served: Served, windows: Windows) -> None:
    tab = windows.open("audrey", owner="audrey")
    project = served.project()
    tab.begin(served.play(asks_for(write("notes.txt", "x")), says("Done.")), project)
    tab.yes()
    tab.sees("Done.")
    window = opened(tab, "Who decided what")
    first = window.get_by_role("listitem").first
    expect(first).to_contain_text("audrey@127.0.0.1")
    expect(first).to_contain_text("approved (proceed once) write_file")
    expect(first).to_contain_text("notes.txt")
    window.get_by_label("What").select_option("session")
    expect(window.get_by_role("listitem")).to_have_count(1)
    expect(window.get_by_role("listitem")).to_contain_text("created a session in")
    window.get_by_role("button", name="Check the record").click()
    expect(window.get_by_role("status")).to_contain_text("Only the user who runs the server")
    assert tab.faint_texts() == [] and tab.unnamed() == []
    assert tab.complaints == []


@pytest.mark.spec("H4")
def test_a_link_that_was_used_says_how_to_get_another(served: Served, browser: Browser) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{served.address}/#code=used")
    expect(page.get_by_role("alert")).to_have_text(re.compile("^This link no longer works"))
    expect(page.get_by_role("main")).to_contain_text("run assent serve login on that machine")
    page.context.close()
