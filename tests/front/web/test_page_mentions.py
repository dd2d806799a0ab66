"""`@path` in a prompt that is written in the page: what came along is said below it, as text. Row G1."""

import pytest
from playwright.sync_api import expect

from support.page import Served, Windows, needs_browser
from support.program import says

pytestmark = needs_browser


@pytest.mark.spec("G1")
def test_below_the_prompt_stands_what_came_along_and_what_did_not(served: Served, windows: Windows) -> None:
    project = served.project()
    (project / "a.py").write_text("one\ntwo\n")
    (project / "<b>x.txt").write_text("x")
    (project / ".env").write_text("TOKEN=hush\n")
    tab = windows.open()
    session = tab.begin(served.play(says("Seen.")), project, 'see @a.py @"<b>x.txt" and @.env')
    tab.sees("Seen.")
    said = "With a.py (2 lines), <b>x.txt (1 line). Left out .env: usually holds secrets."
    expect(tab.page.get_by_text(said)).to_be_visible()
    tab.page.reload()
    expect(tab.page.get_by_text(said)).to_be_visible()
    assert session
