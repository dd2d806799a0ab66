"""A command that waits can be tried: then the question is about what it did, and a yes applies exactly that."""

import subprocess
import sys
from pathlib import Path

import pytest

from assent.app.trial_text import left_out_in_words
from assent.approval import Approval, ExecDetails, Mode
from assent.events import ApprovalRequested, CallFinished, CallRequest, CallStarted, TrialStarted
from assent.policy.rules import Rule
from assent.sandbox.bubblewrap import bubblewrap
from assent.scheduler.approvals import Refused
from assent.scheduler.call import AwaitingApproval, Failed, Success
from assent.tools.registry import Registry
from assent.trial import Trial
from support.tools_harness import Spec, ToolsHarness, said, sh
from support.trying import Workbench
from support.waiting import until

pytestmark = [
    pytest.mark.spec("J8"),
    pytest.mark.skipif(sys.platform != "linux" or bubblewrap() is None, reason="needs bubblewrap"),
]


class TryingHarness(ToolsHarness):
    def __init__(
        self, folder: Path, *, mode: Mode = "default", rules: tuple[Rule, ...] = (), attended: bool = True
    ) -> None:
        self.bench = Workbench(folder)
        super().__init__(self.bench.work, mode=mode, rules=rules, attended=attended)
        self.registry = Registry(
            [self.bench.tool, *(tool for tool in self.registry if tool.name != self.bench.tool.name)]
        )
        self.scheduler = self.opened()

    async def question(self, call_id: str = "c1") -> Approval:
        """The next question about the call, when nothing is being tried."""
        await until(lambda: any(self._is_asked(call, call_id) for call in self.scheduler.waiting()))
        return self.waiting()[call_id]

    @staticmethod
    def _is_asked(call: AwaitingApproval, call_id: str) -> bool:
        return call.request.call_id == call_id and call.tried_by is None

    async def tried(self, call_id: str = "c1") -> Trial:
        before = await self.question(call_id)
        await self.answer(call_id, "try_first")
        await until(lambda: self.waiting()[call_id].id != before.id)
        return trial(await self.question(call_id))


def trial(approval: Approval) -> Trial:
    assert isinstance(approval.details, ExecDetails) and approval.details.trial is not None
    return approval.details.trial


@pytest.fixture
def harness(tmp_path: Path) -> TryingHarness:
    return TryingHarness(tmp_path)


CHANGE: Spec = sh("sed -i s/hi/ho/ a.txt; echo done")


async def test_a_trial_comes_back_as_a_question_and_a_yes_applies_it(harness: TryingHarness):
    harness.bench.write(a_txt="hi\n")
    batch = harness.schedule(CHANGE)
    first = await harness.question()
    assert "try_first" in first.options and "run_directly" not in first.options
    shown = await harness.tried()
    second = harness.waiting()["c1"]
    assert second.options == ("proceed_once", "try_first", "run_directly", "cancel") and second.digest != first.digest
    assert ([effect.path for effect in shown.effects], shown.output.strip()) == (["a.txt"], "done")
    assert harness.text("a.txt") == "hi\n"
    await harness.answer("c1")
    [call] = await batch.results()
    assert (
        isinstance(call, Success) and "its changes were then applied" in said(call) and harness.text("a.txt") == "ho\n"
    )


async def test_the_question_says_why_nothing_can_be_tried(harness: TryingHarness):
    harness.bench.trials.root = str(harness.bench.data)
    harness.schedule(CHANGE)
    asked = await harness.question()
    assert "try_first" not in asked.options and "its own data in the workspace" in asked.untried


async def test_a_no_discards_the_trial(harness: TryingHarness):
    harness.bench.write(a_txt="hi\n")
    batch = harness.schedule(CHANGE)
    await harness.tried()
    await harness.answer("c1", "cancel")
    await batch.results()
    assert (harness.bench.leftovers(), harness.text("a.txt"), harness.started()) == ([], "hi\n", [])


async def test_parts_can_be_left_out_in_the_answer(harness: TryingHarness):
    batch = harness.schedule(sh("echo x > x; echo y > y"))
    await harness.tried()
    with pytest.raises(Refused, match="no part 7"):
        await harness.answer("c1", hunks=(7,))
    await harness.answer("c1", hunks=(1,))
    [call] = await batch.results()
    assert harness.bench.tree() == {"y": "y\n"} and "left out 1 of 2 parts of its changes: x added." in said(call)


def commit_two_files(folder: Path) -> None:
    git = "git -c user.name=x -c user.email=x@y"
    script = f"git init -q && echo 1 > a && echo 2 > b && git add -A && {git} commit -qm x"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)


async def test_the_model_is_told_that_a_repository_may_contain_what_was_left_out(harness: TryingHarness):
    commit_two_files(harness.bench.work)
    batch = harness.schedule(sh("git rm -q b; echo more >> a; git add -A"))
    shown = await harness.tried()
    assert [(one.path, one.what) for one in shown.effects] == [(".git", "changed"), ("a", "changed"), ("b", "deleted")]
    assert left_out_in_words(shown, {2}).startswith(".git is applied as a whole")
    assert not left_out_in_words(shown, ()) and not left_out_in_words(shown, {0})
    await harness.answer("c1", hunks=(0, 1))
    [call] = await batch.results()
    assert ".git was applied as a whole, so what was left out may still be staged or committed in it." in said(call)


async def test_what_was_left_out_does_not_count_as_applied(harness: TryingHarness):
    lines = "".join(f"{n}\n" for n in range(30))
    harness.bench.write(old_txt="hi\n", many_txt=lines)
    batch = harness.schedule(sh("rm old.txt; sed -i 's/^1$/one/; s/^25$/more/' many.txt"))
    shown = await harness.tried()
    assert [(one.path, one.parts) for one in shown.effects] == [("many.txt", 2), ("old.txt", 1)]
    await harness.answer("c1", hunks=(1,))
    [call] = await batch.results()
    assert "then applied (1 file changed)" in said(call) and harness.text("old.txt") == "hi\n"
    assert "left out 2 of 3 parts of its changes: many.txt changed (part 1 of 2), old.txt deleted." in said(call)


async def test_it_can_still_run_directly(harness: TryingHarness):
    batch = harness.schedule(sh("echo x > x; echo $PWD $ASSENT_SANDBOX"))
    await harness.tried()
    await harness.answer("c1", "run_directly")
    [call] = await batch.results()
    assert isinstance(call, Success) and "copy of the workspace" not in said(call)
    assert (harness.bench.tree(), harness.bench.leftovers()) == ({"x": "x\n"}, [])


async def test_a_yes_to_an_outdated_trial_is_refused_and_asked_again(harness: TryingHarness):
    harness.bench.write(a_txt="hi\n")
    harness.schedule(CHANGE)
    await harness.tried()
    before = harness.waiting()["c1"].id
    harness.bench.write(a_txt="hi, mine\n")
    with pytest.raises(Refused, match="someone else has since changed files"):
        await harness.answer("c1")
    await until(lambda: harness.waiting()["c1"].id != before)
    again = harness.waiting()["c1"]
    assert trial(again).stale == ("a.txt",) and "proceed_once" not in again.options
    fresh = await harness.tried()
    assert fresh.stale == () and "+ho, mine" in fresh.effects[0].diff


async def test_while_it_is_tried_only_a_no_is_an_answer_and_ends_it(harness: TryingHarness):
    batch = harness.schedule(sh("echo x > x; echo ready; sleep 1000"))
    await harness.question()
    await harness.answer("c1", "try_first")
    await until(lambda: any("ready" in call.output for call in harness.scheduler.waiting()))
    with pytest.raises(Refused, match="being tried"):
        await harness.answer("c1")
    await harness.answer("c1", "cancel")
    await batch.results()
    assert (harness.bench.leftovers(), harness.bench.tree()) == ([], {})


async def test_a_cancelled_call_ends_its_trial(harness: TryingHarness):
    batch = harness.schedule(sh("echo x > x; echo ready; sleep 1000"))
    await harness.question()
    await harness.answer("c1", "try_first")
    await until(lambda: any("ready" in call.output for call in harness.scheduler.waiting()))
    harness.scheduler.cancel(batch, "stop")
    await batch.results()
    assert harness.bench.leftovers() == []


async def test_a_tried_question_survives_a_restart_with_the_same_digest(harness: TryingHarness):
    harness.bench.write(a_txt="hi\n")
    harness.schedule(CHANGE)
    await harness.tried()
    before = harness.waiting()["c1"]
    left = harness.scheduler.waiting()
    await harness.scheduler.park()
    harness.scheduler = harness.opened()
    batch = harness.scheduler.restore(left)
    await until(harness.waiting)
    assert harness.waiting()["c1"] == before
    await harness.answer("c1")
    await batch.results()
    assert harness.text("a.txt") == "ho\n"


async def test_a_trial_that_was_interrupted_leaves_the_question_and_nothing_else(harness: TryingHarness):
    harness.schedule(sh("echo x > x; echo ready; sleep 1000"))
    await harness.question()
    await harness.answer("c1", "try_first")
    await until(lambda: any("ready" in call.output for call in harness.scheduler.waiting()))
    left = harness.scheduler.waiting()
    await harness.scheduler.park()
    harness.scheduler = harness.opened()
    harness.scheduler.restore(left)
    asked = await harness.question()
    assert "Assent stopped while it was being tried" in asked.why and harness.bench.leftovers() == []


async def test_an_earlier_call_that_still_has_to_write_prevents_a_trial(harness: TryingHarness):
    harness.schedule(sh("echo one > one"), sh("cat one > two"))
    asked = await harness.question("c2")
    assert "try_first" not in asked.options and asked.untried == "earlier calls of the same reply run first"


async def test_auto_try_asks_about_effects_and_not_about_words(tmp_path: Path):
    harness = TryingHarness(tmp_path, mode="auto_try")
    batch = harness.schedule(sh("echo x > x"))
    asked = await harness.question()
    assert [effect.path for effect in trial(asked).effects] == ["x"]
    kinds = [type(event) for event in harness.journal.events if not isinstance(event, CallRequest)]
    assert kinds.count(TrialStarted) == 1 and kinds.count(ApprovalRequested) == 2
    await harness.answer("c1")
    await batch.results()
    assert harness.bench.tree() == {"x": "x\n"}


async def test_auto_try_tries_a_command_when_the_calls_before_it_have_run(tmp_path: Path):
    harness = TryingHarness(tmp_path, mode="auto_try")
    batch = harness.schedule(sh("echo one > one"), sh("cp one two"))
    assert [effect.path for effect in trial(await harness.question("c1")).effects] == ["one"]
    assert "c2" not in harness.waiting()
    await harness.answer("c1")
    assert "+one" in trial(await harness.question("c2")).effects[0].diff
    await harness.answer("c2")
    await batch.results()
    assert harness.bench.tree() == {"one": "one\n", "two": "one\n"}


NO_EFFECTS = Rule(ruling="allow", tool="run_shell_command", without_effects=True)


async def test_without_a_rule_a_command_without_effects_still_asks(tmp_path: Path):
    harness = TryingHarness(tmp_path, mode="auto_try")
    harness.schedule(sh("./x || true"))
    assert trial(await harness.question()).effects == ()


async def test_a_rule_lets_a_command_without_effects_through(tmp_path: Path):
    harness = TryingHarness(tmp_path, mode="auto_try", rules=(NO_EFFECTS,), attended=False)
    [call, other] = await harness.schedule(sh("./x || echo fine"), sh("echo x > x")).results()
    assert isinstance(call, Success) and "changed nothing" in said(call)
    assert isinstance(other, Failed) and other.failure.type == "approval_unavailable"
    assert harness.bench.tree() == {}


async def test_such_a_rule_alone_allows_nothing(tmp_path: Path):
    harness = TryingHarness(tmp_path, rules=(NO_EFFECTS,))
    harness.schedule(sh("echo x > x"))
    assert (await harness.question()).why != ""


async def test_a_rule_that_asks_asks_about_the_words(tmp_path: Path):
    rule = Rule(ruling="ask", tool="run_shell_command", command=("make",))
    harness = TryingHarness(tmp_path, mode="auto_try", rules=(rule,))
    harness.schedule(sh("make x"))
    asked = await harness.question()
    assert isinstance(asked.details, ExecDetails) and asked.details.trial is None


async def test_a_crash_while_applying_is_told_with_what_was_applied(
    harness: TryingHarness, monkeypatch: pytest.MonkeyPatch
):
    batch = harness.schedule(sh("echo x > x; echo y > y"))
    await harness.tried()
    await harness.answer("c1")
    await batch.results()
    (harness.bench.work / "y").unlink()  # as if it had stopped before
    started = next(event for event in harness.journal.events if isinstance(event, CallStarted))
    assert started.change is not None and started.change.effects
    finished = next(event for event in harness.journal.events if isinstance(event, CallFinished))
    assert finished.status == "success"
    invocation = harness.bench.invocation("echo x > x; echo y > y").invocation
    outcome = await invocation.known_outcome(started.change.effects)
    assert "only in part. Applied: x. Not applied: y." in outcome
