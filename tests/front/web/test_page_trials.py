"""A command is tried in the page: what it did is shown part by part, and applied, left out or discarded."""

import sys

import pytest
from playwright.sync_api import expect

from assent.sandbox.bubblewrap import bubblewrap
from support.page import Served, Windows, needs_browser
from support.program import asks_for, says, shell

pytestmark = [
    needs_browser,
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]
COMMAND = "sed -i -e 's/line 3$/three/' -e 's/line 30$/thirty/' many.txt; echo new > b.txt; mkdir .vscode; \
echo {} > .vscode/x; echo done"


def test_a_command_is_tried_and_some_of_what_it_did_is_applied(served: Served, windows: Windows) -> None:
    project = served.project(many__txt="".join(f"line {n}\n" for n in range(40)))
    tab = windows.open()
    tab.begin(served.play(asks_for(shell(COMMAND)), says("Everything went well.")), project)
    tab.press("Try first", "Run a command")
    card = tab.card("Apply what it did")
    expect(card.locator(".printed")).to_have_text("done")
    expect(card.locator(".trial-part")).to_have_count(4)
    expect(card.locator(".trial-part.never")).to_contain_text("NOT applied")
    assert not (project / "b.txt").exists()
    card.get_by_label("many.txt changed, part 2 of 2").uncheck()
    yes, unseen = card.get_by_role("button", name="Apply 2 of 3 parts"), card.locator(".next-unseen")
    while not yes.is_enabled():  # it must have been read
        if unseen.count():
            unseen.click(force=True)
        tab.page.wait_for_timeout(300)
    tab.press("Apply 2 of 3 parts", "Apply what it did")
    tab.sees("Everything went well.")
    text = (project / "many.txt").read_text()
    assert ("three" in text, "thirty" in text, (project / "b.txt").read_text()) == (True, False, "new\n")
    assert not (project / ".vscode").exists() and tab.complaints == []


def test_a_trial_is_watched_stopped_and_leaves_nothing(served: Served, windows: Windows) -> None:
    project = served.project()
    tab = windows.open()
    tab.begin(
        served.play(asks_for(shell("echo x > b.txt; echo ready; sleep 1000")), says("Everything went well.")), project
    )
    tab.press("Try first", "Run a command")
    expect(tab.page.locator(".trying .printed")).to_have_text("ready")
    tab.page.get_by_role("button", name="Stop and refuse").click()
    tab.sees("refused by you")
    assert list(project.iterdir()) == [] and tab.complaints == []


def test_a_trial_can_be_discarded_or_run_directly(served: Served, windows: Windows) -> None:
    project = served.project()
    tab = windows.open()
    tab.begin(served.play(asks_for(shell("echo x >> b.txt")), says("Everything went well.")), project)
    tab.press("Try first", "Run a command")
    tab.press("Run directly", "Apply what it did")
    tab.sees("Everything went well.")
    assert (project / "b.txt").read_text() == "x\n" and tab.complaints == []
