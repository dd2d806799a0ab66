"""Edits of one batch that build on each other: what is shown, what a yes covers, what a no to an earlier one means."""

from pathlib import Path

import pytest

from assent.events import CallScheduled, CallStarted, GateKind
from assent.policy.rules import Rule
from assent.scheduler.call import AwaitingApproval, Scheduled, Terminal
from assent.scheduler.call_task import CallTask
from assent.scheduler.refusals import Refused
from support.tools_harness import Spec, ToolsHarness, read, replace, said, sh, statuses, write

GATES = pytest.mark.parametrize("gate", ["batch", "eager"])


@pytest.fixture
def bench(tmp_path: Path) -> ToolsHarness:
    (tmp_path / "a").write_text("one\n")
    return ToolsHarness(tmp_path)


ONE_TWO, TWO_THREE = replace("a", "one", "two"), replace("a", "two", "three")


@pytest.mark.spec("B6")
async def test_a_proposal_is_shown_on_top_of_the_one_before_it(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, TWO_THREE)
    await bench.settle()
    assert (bench.shown("c1").old, bench.shown("c1").new) == ("one\n", "two\n")
    assert (bench.shown("c2").old, bench.shown("c2").new) == ("two\n", "three\n")
    await bench.answer("c2")
    await bench.answer("c1")
    assert statuses(await batch.results()) == ["ok", "ok"]
    assert bench.text("a") == "three\n"
    assert len(bench.asked("c2")) == 1


@pytest.mark.spec("B6")
async def test_when_the_first_is_refused_one_that_needs_it_fails_with_the_plain_reason(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, TWO_THREE)
    await bench.settle()
    await bench.answer("c1", "cancel")
    results = await batch.results()
    assert statuses(results) == ["no", "edit_no_occurrence_found"]
    assert "old_string was not found in a" in said(results[1])
    assert bench.text("a") == "one\n"


@pytest.mark.spec("B6")
async def test_when_the_first_is_refused_one_that_still_applies_is_asked_again(bench: ToolsHarness):
    bench.schedule(ONE_TWO, write("a", "whole\n"))
    await bench.settle()
    before = bench.waiting()["c2"]
    await bench.answer("c1", "cancel")
    await bench.settle()
    assert (bench.shown("c2").old, bench.shown("c2").new) == ("one\n", "whole\n")
    with pytest.raises(Refused, match="changed since it was shown"):
        await bench.answer("c2", digest=before.digest)
    assert bench.started() == []


@pytest.mark.spec("B6")
async def test_a_yes_on_top_of_a_proposal_that_is_then_refused_is_asked_again(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, write("a", "whole\n"), sh("true > b"))
    await bench.settle()
    await bench.answer("c2")
    await bench.answer("c1", "cancel")
    await bench.settle()
    assert set(bench.waiting()) == {"c2", "c3"}
    assert bench.shown("c2").old == "one\n"
    await bench.answer("c3")
    await bench.settle()
    assert bench.started() == [], "nothing runs while a call of the batch is undecided"
    await bench.answer("c2")
    assert statuses(await batch.results()) == ["no", "ok", "ok"]


@pytest.mark.spec("B6", "C4")
async def test_an_edited_proposal_renews_the_question_that_builds_on_it(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, write("a", "whole\n"))
    await bench.settle()
    await bench.answer("c1", content="edited\n")
    await bench.settle()
    assert bench.shown("c2").old == "edited\n"
    await bench.answer("c2")
    assert statuses(await batch.results()) == ["ok", "ok"]
    assert [len(bench.asked(call)) for call in ("c1", "c2")] == [1, 2]
    assert bench.text("a") == "whole\n"


@pytest.mark.spec("B6", "J6")
async def test_a_partly_accepted_proposal_renews_the_question_that_builds_on_it(tmp_path: Path):
    (tmp_path / "a").write_text("".join(f"{n}\n" for n in range(30)))
    bench = ToolsHarness(tmp_path)
    whole = bench.text("a").replace("\n2\n", "\ntwo\n").replace("\n28\n", "\ntwenty-eight\n")
    batch = bench.schedule(write("a", whole), replace("a", "two\n", "2.0\n"))
    await bench.settle()
    await bench.answer("c1", hunks=(0,))
    await bench.settle()
    assert "\n28\n" in (bench.shown("c2").old or "") and "\n2.0\n" in bench.shown("c2").new
    await bench.answer("c2")
    assert statuses(await batch.results()) == ["ok", "ok"]
    assert "\n2.0\n" in bench.text("a") and "twenty-eight" not in bench.text("a")


@pytest.mark.spec("B6")
@GATES
async def test_a_call_that_is_cancelled_takes_its_proposal_with_it(tmp_path: Path, gate: GateKind):
    (tmp_path / "a").write_text("one\n")
    bench = ToolsHarness(tmp_path, gate=gate)
    batch = bench.schedule(ONE_TWO, write("a", "whole\n"), TWO_THREE)
    await bench.settle()
    bench.scheduler.cancel_call("c1", "never mind")
    await bench.settle()
    assert bench.shown("c2").old == "one\n"
    assert statuses(await bench.finish(batch)) == ["no", "ok", "edit_no_occurrence_found"]


@pytest.mark.spec("B6")
@GATES
async def test_when_the_first_fails_while_it_runs_the_next_is_judged_again(tmp_path: Path, gate: GateKind):
    (tmp_path / "d").mkdir()
    bench = ToolsHarness(tmp_path, gate=gate)
    batch = bench.schedule(write("d/a", "one\n"), replace("d/a", "one", "two"))
    await bench.settle()
    (tmp_path / "d").rmdir()
    (tmp_path / "d").write_text("a file in its place")
    results = await bench.finish(batch)
    assert "ok" not in statuses(results)
    assert bench.text("d") == "a file in its place"


@pytest.mark.spec("B6", "B11")
async def test_always_for_the_first_releases_those_that_build_on_it(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, TWO_THREE)
    await bench.settle()
    await bench.answer("c1", "proceed_always")
    assert statuses(await batch.results()) == ["ok", "ok"]
    assert bench.text("a") == "three\n"


@pytest.mark.spec("B6", "C10")
async def test_after_a_restart_the_proposals_build_on_each_other_as_before(bench: ToolsHarness):
    bench.schedule(ONE_TWO, TWO_THREE, replace("a", "three", "four"))
    await bench.settle()
    asked = bench.waiting()
    calls = [task.call for task in tasks(bench)]
    await bench.scheduler.park()
    bench.scheduler = bench.opened()
    batch = bench.scheduler.restore(calls)
    await bench.settle()
    assert bench.waiting() == asked, "the same questions with the same digests"
    assert statuses(await bench.finish(batch)) == ["ok", "ok", "ok"]
    assert bench.text("a") == "four\n"


def tasks(bench: ToolsHarness) -> list[CallTask]:
    return list(bench.scheduler._tasks.values())  # pyright: ignore[reportPrivateUsage]


@pytest.mark.spec("B6")
async def test_three_edits_with_a_no_in_the_middle_leave_what_the_others_do(bench: ToolsHarness):
    batch = bench.schedule(ONE_TWO, write("a", "refused\n"), write("a", "last\n"))
    await bench.settle()
    assert bench.shown("c3").old == "refused\n"
    await bench.answer("c3")
    await bench.answer("c1")
    await bench.answer("c2", "cancel")
    await bench.settle()
    assert bench.shown("c3").old == "two\n"
    await bench.answer("c3")
    assert statuses(await batch.results()) == ["ok", "no", "ok"]
    assert bench.text("a") == "last\n"


# --- calls that cannot be judged before their turn ---


@pytest.mark.spec("B6")
@GATES
async def test_an_edit_of_what_a_command_is_yet_to_write_is_asked_in_its_turn(tmp_path: Path, gate: GateKind):
    bench = ToolsHarness(tmp_path, gate=gate)
    batch = bench.schedule(sh("echo one > a"), ONE_TWO, TWO_THREE)
    await bench.settle()
    assert set(bench.waiting()) == {"c1"}
    assert [type(task.call) for task in tasks(bench)] == [AwaitingApproval, Scheduled, Scheduled]
    assert statuses(await bench.finish(batch)) == ["ok", "ok", "ok"]
    assert [len(bench.asked(call)) for call in ("c1", "c2", "c3")] == [1, 1, 1]
    assert bench.text("a") == "three\n"


@pytest.mark.spec("B6")
async def test_an_edit_that_still_cannot_be_made_in_its_turn_fails_with_the_plain_reason(tmp_path: Path):
    bench = ToolsHarness(tmp_path, mode="yolo")
    results = await bench.run(sh("echo other > a"), ONE_TWO)
    assert statuses(results) == ["ok", "edit_no_occurrence_found"]
    assert "c2" not in bench.started()


@pytest.mark.spec("B6", "B12")
async def test_with_nobody_to_ask_a_call_that_was_to_be_judged_in_its_turn_is_refused_then(tmp_path: Path):
    bench = ToolsHarness(tmp_path, attended=False, rules=(Rule(ruling="allow", tool="run_shell_command"),))
    results = await bench.schedule(sh("echo one > a"), ONE_TWO).results()
    assert statuses(results) == ["ok", "approval_unavailable"]
    assert bench.text("a") == "one\n"


@pytest.mark.spec("B6")
async def test_when_the_command_is_refused_the_edit_after_it_is_judged_before_the_gate_opens(tmp_path: Path):
    bench = ToolsHarness(tmp_path)
    batch = bench.schedule(sh("echo one > a"), replace("a", "", "new\n"), replace("a", "new", "newer"))
    await bench.settle()
    await bench.answer("c1", "cancel")
    assert statuses(await bench.finish(batch)) == ["no", "ok", "ok"]
    assert bench.text("a") == "newer\n"


@pytest.mark.spec("B6", "C10")
async def test_a_call_that_was_to_be_judged_in_its_turn_is_so_after_a_restart(tmp_path: Path):
    bench = ToolsHarness(tmp_path)
    bench.schedule(sh("echo one > a"), ONE_TWO)
    await bench.settle()
    calls = [task.call for task in tasks(bench)]
    await bench.scheduler.park()
    bench.scheduler = bench.opened()
    assert statuses(await bench.finish(bench.scheduler.restore(calls))) == ["ok", "ok"]
    decisions = [e.decision for e in bench.journal.events if isinstance(e, CallScheduled) and e.call_id == "c2"]
    assert decisions[-1].source == "person"


@pytest.mark.spec("B6", "D3")
async def test_what_a_command_makes_of_a_name_is_judged_before_it_is_read(tmp_path: Path):
    (tmp_path / "kept").write_text("not for the model\n")
    (tmp_path / ".env").write_text("KEY=1\n")
    (tmp_path / "make_links").write_text("ln -s kept x; ln -s .env y\n")  # a command that names neither file
    rules = (Rule(ruling="allow", tool="run_shell_command"), Rule(ruling="deny", tool="read_file", path="kept"))
    bench = ToolsHarness(tmp_path, rules=rules)
    batch = bench.schedule(sh("sh make_links"), read("x"), read("y"))
    results = await bench.finish(batch, "cancel")
    assert statuses(results) == ["ok", "policy_violation", "no"]
    assert bench.started() == ["c1"]


@pytest.mark.spec("B6")
async def test_a_command_in_a_folder_that_the_call_before_it_makes_runs_there(tmp_path: Path):
    bench = ToolsHarness(tmp_path, mode="yolo")
    specs: list[Spec] = [write("d/a", "one\n"), sh("cat a", dir_path="d"), sh("mkdir e"), sh("pwd", dir_path="e")]
    results = await bench.run(*specs)
    assert statuses(results) == ["ok"] * 4
    assert "one" in said(results[1]) and "/e" in said(results[3])


@pytest.mark.spec("B6")
async def test_facts_that_are_remembered_in_one_batch_are_all_kept(tmp_path: Path):
    memory = tmp_path / "home" / "ASSENT.md"
    (tmp_path / "w").mkdir()
    memory.parent.mkdir()
    bench = ToolsHarness(tmp_path / "w", memory=memory)
    results = await bench.run(*(("save_memory", {"fact": f"fact {n}"}) for n in range(3)))
    assert statuses(results) == ["ok"] * 3
    assert [line for line in memory.read_text().splitlines() if "fact" in line] == [f"- fact {n}" for n in range(3)]


@pytest.mark.spec("B6")
async def test_each_edit_of_a_batch_can_be_taken_back_to_what_was_there_before_it(bench: ToolsHarness):
    await bench.run(ONE_TWO, TWO_THREE)
    changes = [e.change for e in bench.journal.events if isinstance(e, CallStarted) and e.change is not None]
    assert [change.before for change in changes] == [b"one\n", b"two\n"]


@pytest.mark.spec("B10")
async def test_a_batch_of_edits_that_build_on_each_other_is_cancelled_as_a_whole(bench: ToolsHarness):
    batch = bench.schedule(
        *(replace("a", word, word + "x") for word in ["one", *("one" + "x" * n for n in range(1, 50))])
    )
    await bench.settle()
    assert len(bench.waiting()) == 50
    bench.scheduler.cancel(batch, "stop")
    assert all(isinstance(call, Terminal) for call in await batch.results())
    assert bench.text("a") == "one\n"
