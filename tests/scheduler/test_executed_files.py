"""The approval of a command covers the files that it executes, from the question to the start."""

from pathlib import Path

import pytest

from assent.approval import ExecDetails, UnapprovedFile
from assent.parts import TerminalDisplay
from assent.policy.rules import parse_allowed
from assent.scheduler.call import Success
from support.changing_script import CHANGES, ENDINGS, NEW, OLD, POINTS, ChangingScript, opened, ran, script
from support.tools_harness import ToolsHarness, said, sh, statuses, write

pytestmark = pytest.mark.spec("J9")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    script(tmp_path / "w", OLD)
    return tmp_path / "w"


async def test_the_question_names_a_file_that_is_new_and_not_one_that_was_approved(folder: Path) -> None:
    harness = opened(folder)
    batch = harness.schedule(sh("bash x.sh"))
    await harness.settle()
    asked = harness.waiting()["c1"]
    assert isinstance(asked.details, ExecDetails)
    assert [file.path for file in asked.details.executes] == [str(folder / "x.sh")]
    assert asked.unapproved == (UnapprovedFile("x.sh"),)
    await harness.finish(batch)
    later = opened(folder)
    batch = later.schedule(sh("bash x.sh"))
    await later.settle()
    assert later.waiting()["c1"].unapproved == (), "also in another session"
    await later.finish(batch)
    assert ran(folder) == ["old", "old"]


async def test_a_refusal_approves_nothing(folder: Path) -> None:
    harness = opened(folder)
    await harness.finish(harness.schedule(sh("bash x.sh")), "cancel")
    harness.schedule(sh("bash x.sh"))
    await harness.settle()
    assert harness.waiting()["c2"].unapproved == (UnapprovedFile("x.sh"),)


async def test_a_file_that_changes_while_the_question_waits_is_asked_about_again(folder: Path) -> None:
    harness = opened(folder)
    batch = harness.schedule(sh("bash x.sh"))
    await harness.settle()
    script(folder, NEW)
    await harness.answer("c1")
    await harness.settle()
    again = harness.waiting()["c1"]
    assert again.why == "x.sh has changed since you approved it"
    assert again.unapproved == (UnapprovedFile("x.sh", changed=True),)
    assert ran(folder) == []
    await harness.finish(batch)
    assert ran(folder) == ["new"]


async def test_a_file_that_appears_while_the_question_waits_is_asked_about_again(folder: Path) -> None:
    harness = opened(folder)
    (folder / "makefile").write_text("all:\n\techo makefile >> ran\n")
    harness.schedule(sh("make"))
    await harness.settle()
    (folder / "GNUmakefile").write_text("all:\n\techo gnu >> ran\n")
    await harness.answer("c1")
    await harness.settle()
    assert harness.waiting()["c1"].why == "it runs GNUmakefile, which you have not approved yet"
    assert ran(folder) == []


async def test_a_script_that_the_agent_itself_has_changed_is_asked_about_again(folder: Path) -> None:
    harness = opened(folder)
    await harness.run(sh("bash x.sh"))
    await harness.run(write("x.sh", NEW))
    harness.schedule(sh("bash x.sh"))
    await harness.settle()
    assert harness.waiting()["c3"].unapproved == (UnapprovedFile("x.sh", changed=True),)


async def test_a_grant_covers_a_script_until_it_changes(folder: Path) -> None:
    harness = opened(folder)
    await harness.finish(harness.schedule(sh("./x.sh")), "proceed_always")
    (again,) = await harness.schedule(sh("./x.sh")).results()
    assert isinstance(again, Success)
    assert harness.asked("c2") == []
    script(folder, NEW)
    batch = harness.schedule(sh("./x.sh"))
    await harness.settle()
    assert harness.waiting()["c3"].why == "x.sh has changed since you approved it"
    assert ran(folder) == ["old", "old"]
    await harness.finish(batch)
    (covered,) = await harness.schedule(sh("./x.sh")).results()
    assert isinstance(covered, Success)
    assert ran(folder) == ["old", "old", "new", "new"]


async def test_a_grant_does_not_cover_a_file_that_is_new(folder: Path) -> None:
    harness = opened(folder)
    (folder / "makefile").write_text("all:\n\techo makefile >> ran\n")
    await harness.finish(harness.schedule(sh("make all")), "proceed_always")
    (folder / "GNUmakefile").write_text("all:\n\techo gnu >> ran\n")
    harness.schedule(sh("make all"))
    await harness.settle()
    assert harness.waiting()["c2"].why == "it runs GNUmakefile, which you have not approved yet"
    assert ran(folder) == ["makefile"]


async def test_nobody_to_ask_means_that_a_changed_script_does_not_run(folder: Path) -> None:
    asking = opened(folder)
    await asking.finish(asking.schedule(sh("./x.sh")), "proceed_always")
    script(folder, NEW)
    alone = opened(folder, attended=False)
    for grant in asking.policy.grants.values():
        alone.policy.add_grant(grant)
    (refused,) = await alone.schedule(sh("./x.sh")).results()
    assert statuses([refused]) == ["approval_unavailable"]
    assert "x.sh has changed since you approved it" in said(refused)
    assert ran(folder) == ["old"]


async def test_a_rule_of_the_person_covers_the_words_whatever_is_in_the_file(folder: Path) -> None:
    harness = opened(folder, rules=(parse_allowed("run_shell_command(make all)"),))
    for text in ("old", "new"):
        (folder / "Makefile").write_text(f"all:\n\techo {text} >> ran\n")
        (call,) = await harness.schedule(sh("make all")).results()
        assert isinstance(call, Success), said(call)
    assert ran(folder) == ["old", "new"]


async def test_two_questions_about_one_script_are_both_settled_by_their_answers(folder: Path) -> None:
    harness = opened(folder, gate="eager")
    results = await harness.run(sh("bash x.sh 1"), sh("bash x.sh 2"))
    assert statuses(results) == ["ok", "ok"]
    assert [len(harness.asked(call)) for call in ("c1", "c2")] == [1, 1]


async def test_a_command_without_such_files_has_the_same_digest_as_before(folder: Path) -> None:
    digests: list[str] = []
    for harness in (opened(folder), ToolsHarness(folder)):
        harness.schedule(sh("touch a"))
        await harness.settle()
        digests.append(harness.waiting()["c1"].digest)
    assert digests[0] == digests[1]


# --- between the yes and the start ---


@pytest.mark.parametrize("command", ["./x.sh", "bash x.sh", "cd . && sh ./x.sh"])
async def test_a_script_that_changes_at_any_point_between_the_yes_and_the_start_never_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    harness = ChangingScript(folder, monkeypatch)
    for change in CHANGES:
        assert [await harness.round(command, point, change) for point in POINTS] == ENDINGS
    assert set(ran(folder)) == {"old"}
    assert len(ran(folder)) == len(CHANGES), "only in the rounds in which nothing changed"


async def test_a_granted_script_that_changes_after_the_last_look_does_not_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = ChangingScript(folder, monkeypatch)
    await harness.tools.finish(harness.tools.schedule(sh("./x.sh")), "proceed_always")
    assert [await harness.round("./x.sh", point, "in place") for point in POINTS[1:]] == ENDINGS[1:]
    assert set(ran(folder)) == {"old"}


async def test_a_granted_command_that_changes_the_script_of_the_next_one_stops_there(folder: Path) -> None:
    harness = opened(folder)
    (folder / "gen.sh").write_text("#!/bin/sh\ncp new.txt x.sh\n")
    (folder / "gen.sh").chmod(0o755)
    (folder / "new.txt").write_text(NEW)
    for command in ("./gen.sh", "./x.sh"):
        await harness.finish(harness.schedule(sh(command)), "proceed_always")
        script(folder, OLD)
    (call,) = await harness.schedule(sh("./gen.sh && ./x.sh")).results()
    assert isinstance(call, Success)
    assert "x.sh: has changed since it was approved, so this was not started" in said(call)
    assert ran(folder) == ["old"]


async def test_a_script_that_changes_while_it_starts_is_told_to_the_person_and_the_model(folder: Path) -> None:
    harness = opened(folder)
    script(folder, "cp new.txt x.sh; echo done\n")
    (folder / "new.txt").write_text(NEW)
    (call,) = await harness.run(sh("bash x.sh"))
    assert isinstance(call, Success)
    note = "x.sh changed while the command was starting or running: content that was not approved may have run."
    assert note in said(call)
    assert isinstance(call.display, TerminalDisplay)
    assert call.display.text.endswith(f"[{note}]\n")
