"""Questions and answers: rows C1, C2, C4 to C7, C10, J3."""

import asyncio
from typing import Any

import pytest

from assent.approval import EditDetails, ExecDetails, InfoDetails, McpDetails, Mode, Outcome
from assent.commands import Answer
from assent.events import ApprovalAnswered, ApprovalModifying, ApprovalRequested, CallStarted, GrantAdded
from assent.policy.rules import BadRule, Rule, parse_allowed, split_allowed
from assent.scheduler import answers
from assent.scheduler.batch import Batch
from assent.scheduler.call import AwaitingApproval, Cancelled, Failed, Success
from assent.scheduler.refusals import NotWaiting, Refused
from assent.tools.support.diff import diff
from support.scheduler_harness import SchedulerHarness
from support.waiting import until


async def asked(harness: SchedulerHarness, tool: str, **args: object) -> Batch:
    batch = harness.schedule(harness.call(tool, args=args))
    await harness.settle()
    return batch


@pytest.mark.spec("C1")
async def test_each_kind_of_question_has_its_own_details():
    harness = SchedulerHarness()
    harness.world.files["/w/f"] = "old"
    harness.schedule(
        harness.call("edit_note", path="/w/f", content="new"),
        harness.call("run_note", text="make all"),
        harness.call("fetch_note", text="https://example.org/a"),
        harness.call("mcp_notes_add", text="x"),
    )
    await harness.settle()
    details = [harness.approval(f"c{n}").details for n in (1, 2, 3, 4)]
    assert details == [
        EditDetails(path="/w/f", diff=diff("/w/f", "old", "new").text, old="old", new="new"),
        ExecDetails(
            command="make all",
            roots=("make",),
            directory="/w",
            risk="medium",
            risk_reason="It runs the recipes of a Makefile.",
        ),
        InfoDetails("fetch https://example.org/a", ("https://example.org/a",)),
        McpDetails(server="notes", tool="add", args={"text": "x"}),
    ]


@pytest.mark.spec("C2")
async def test_each_kind_offers_the_outcomes_that_make_sense_for_it():
    harness = SchedulerHarness()
    harness.schedule(
        harness.call("edit_note", path="/w/f", content="new"),
        harness.call("run_note", text="a"),
        harness.call("mcp_notes_add", text="x"),
    )
    await harness.settle()
    once_always: tuple[Outcome, ...] = ("proceed_once", "proceed_always")
    assert harness.approval("c1").options == (*once_always, "modify_with_editor", "cancel")
    assert harness.approval("c2").options == (*once_always, "cancel")
    assert harness.approval("c3").options == (*once_always, "proceed_always_server", "proceed_always_tool", "cancel")


@pytest.mark.spec("C2")
async def test_an_outcome_that_is_not_offered_is_refused_and_the_question_stays():
    harness = SchedulerHarness()
    await asked(harness, "run_note", text="a")
    with pytest.raises(Refused, match="proceed_always_tool is not offered"):
        await harness.answer("c1", "proceed_always_tool")
    assert isinstance(harness.calls()["c1"], AwaitingApproval)


@pytest.mark.spec("C2")
async def test_a_cancel_carries_its_reason_to_the_model():
    harness = SchedulerHarness()
    batch = await asked(harness, "run_note", text="a")
    await harness.answer("c1", "cancel", reason="use the other branch")
    (call,) = await batch.results()
    assert isinstance(call, Cancelled)
    assert call.result.response == {"error": "[Operation Cancelled] Reason: use the other branch"}


@pytest.mark.spec("C2")
@pytest.mark.parametrize(
    ("outcome", "still_asked"),
    [
        ("proceed_once", ["mcp_notes_add", "mcp_notes_remove"]),
        ("proceed_always", ["mcp_notes_remove"]),
        ("proceed_always_tool", ["mcp_notes_remove"]),
        ("proceed_always_server", []),
    ],
)
async def test_each_always_reaches_as_far_as_it_says(outcome: Outcome, still_asked: list[str]):
    harness = SchedulerHarness()
    batch = await asked(harness, "mcp_notes_add", text="x")
    await harness.answer("c1", outcome)
    await batch.results()
    harness.schedule(harness.call("mcp_notes_add", text="y"), harness.call("mcp_notes_remove", text="y"))
    await harness.settle()
    assert [call.request.tool for call in harness.scheduler.waiting()] == still_asked


@pytest.mark.spec("C2")
async def test_modify_with_editor_marks_the_call_then_asks_again_with_the_edited_text():
    harness = SchedulerHarness()
    batch = await asked(harness, "edit_note", path="/w/f", content="proposed")
    await harness.answer("c1", "modify_with_editor")
    assert harness.journal.announced == [ApprovalModifying("c1", "ann")]
    first = harness.approval("c1")
    await harness.answer("c1", "modify_with_editor", content="edited")
    second = harness.approval("c1")
    assert second.digest != first.digest
    assert isinstance(second.details, EditDetails) and second.details.new == "edited"
    assert harness.world.files == {}
    await harness.answer("c1")
    (call,) = await batch.results()
    assert harness.world.files == {"/w/f": "edited"}
    assert "The user changed the arguments" in call.result.response["note"]


async def test_an_editor_that_changed_nothing_removes_its_mark_and_asks_nothing_again():
    harness = SchedulerHarness()
    await asked(harness, "edit_note", path="/w/f", content="proposed")
    before = harness.approval("c1")
    await harness.answer("c1", "modify_with_editor")
    await harness.answer("c1", "modify_with_editor", content="proposed")
    assert harness.journal.announced == [ApprovalModifying("c1", "ann"), ApprovalModifying("c1", "")]
    assert harness.approval("c1") == before
    await harness.answer("c1", "modify_with_editor", by="bob")
    await harness.answer("c1", "modify_with_editor", content="proposed")
    assert harness.journal.announced[2:] == [ApprovalModifying("c1", "bob")], "another one is at it"


async def test_whoever_is_gone_while_editing_does_not_edit_forever(monkeypatch: pytest.MonkeyPatch):
    harness = SchedulerHarness()
    await asked(harness, "edit_note", path="/w/f", content="proposed")
    before = harness.approval("c1")
    await harness.answer("c1", "modify_with_editor")
    await harness.settle()
    assert harness.journal.announced == [ApprovalModifying("c1", "ann")] and not harness.scheduler.only_waits
    monkeypatch.setattr(answers, "EDITING_SECONDS", 0.0)
    await harness.answer("c1", "modify_with_editor", by="bob")
    await until(lambda: len(harness.journal.announced) == 3)
    assert harness.journal.announced[1:] == [ApprovalModifying("c1", "bob"), ApprovalModifying("c1", "")]
    assert harness.approval("c1") == before and harness.scheduler.only_waits
    await harness.answer("c1")
    assert not harness.scheduler.waiting()


async def test_a_question_that_is_parked_is_not_being_edited_any_more():
    harness = SchedulerHarness()
    await asked(harness, "edit_note", path="/w/f", content="proposed")
    await harness.answer("c1", "modify_with_editor")
    await harness.scheduler.park()
    assert harness.journal.announced == [ApprovalModifying("c1", "ann"), ApprovalModifying("c1", "")]


async def test_editing_does_not_keep_a_question_from_expiring():
    harness = SchedulerHarness(approval_ttl=0.05)
    batch = await asked(harness, "edit_note", path="/w/f", content="proposed")
    await harness.answer("c1", "modify_with_editor")
    assert [type(call).__name__ for call in await batch.results()] == ["Cancelled"]


@pytest.mark.spec("J6")
async def test_part_of_a_diff_is_accepted_hunk_by_hunk():
    harness = SchedulerHarness()
    old = "".join(f"line {number}\n" for number in range(20))
    harness.world.files["/w/f"] = old
    batch = await asked(
        harness, "edit_note", path="/w/f", content=old.replace("line 2\n", "two\n").replace("19\n", "last\n")
    )
    with pytest.raises(Refused, match="there is no hunk 7"):
        await harness.answer("c1", hunks=(7,))
    with pytest.raises(Refused, match="say no"):
        await harness.answer("c1", hunks=())
    await harness.answer("c1", hunks=(1,))
    (call,) = await batch.results()
    assert harness.world.files["/w/f"] == old.replace("19\n", "last\n")
    assert "The user changed the arguments" in call.result.response["note"]


@pytest.mark.spec("J3", "J6")
@pytest.mark.parametrize("part", [{"hunks": (1,)}, {"content": "edited\n"}], ids=["hunks", "content"])
async def test_parts_of_a_change_are_not_accepted_over_a_file_that_changed_since(part: dict[str, Any]):
    harness = SchedulerHarness()
    old = "".join(f"line {number}\n" for number in range(20))
    harness.world.files["/w/f"] = old
    wanted = old.replace("line 2\n", "two\n").replace("19\n", "last\n")
    batch = await asked(harness, "edit_note", path="/w/f", content=wanted)
    before = harness.approval("c1")
    harness.world.files["/w/f"] = old + "mine\n"
    with pytest.raises(Refused, match="the file has changed since it was shown"):
        await harness.answer("c1", **part)
    await harness.settle()
    again = harness.approval("c1")
    assert again.digest != before.digest and again.why == "what it would do has changed since it was shown"
    assert harness.world.files["/w/f"] == old + "mine\n"
    await harness.answer("c1", "cancel")
    await batch.results()


async def test_only_a_file_change_has_hunks():
    harness = SchedulerHarness()
    await asked(harness, "run_note", text="x")
    with pytest.raises(Refused, match="hunks"):
        await harness.answer("c1", hunks=(0,))


@pytest.mark.spec("C4")
@pytest.mark.parametrize("how", ["content", "args"])
async def test_an_answer_may_carry_new_content_and_it_is_applied_to_that_very_call(how: str):
    harness = SchedulerHarness()
    batch = harness.schedule(
        harness.call("edit_note", path="/w/a", content="one"), harness.call("edit_note", path="/w/b", content="two")
    )
    await harness.settle()
    new = {"content": "changed"} if how == "content" else {"args": {"path": "/w/b", "content": "changed"}}
    await harness.answer("c2", **new)  # pyright: ignore[reportArgumentType]
    await harness.answer("c1")
    results = await batch.results()
    assert harness.world.files == {"/w/a": "one", "/w/b": "changed"}
    assert results[1].request.args == {"path": "/w/b", "content": "changed"}
    assert results[1].decision is not None and results[1].decision.reason == "approved with changes"
    assert "The user changed the arguments" in results[1].result.response["note"]
    assert results[1].result.response["args"] == {"path": "/w/b", "content": "changed"}
    assert "note" not in results[0].result.response


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    "args", [{"path": 3, "content": "x"}, {"path": "/w/b"}, {"path": "/w/b", "content": "x", "y": 1}]
)
async def test_arguments_in_an_answer_are_validated_and_the_question_stays(args: dict[str, object]):
    harness = SchedulerHarness()
    await asked(harness, "edit_note", path="/w/f", content="one")
    with pytest.raises(Refused, match="Invalid arguments"):
        await harness.answer("c1", args=args)
    assert isinstance(harness.calls()["c1"], AwaitingApproval)
    assert harness.recorded(ApprovalAnswered) == []


@pytest.mark.spec("C4")
async def test_edited_arguments_cannot_pass_a_deny_rule():
    harness = SchedulerHarness(rules=[Rule(ruling="deny", tool="run_note", argument="forbidden")])
    await asked(harness, "run_note", text="fine")
    with pytest.raises(Refused, match="denies"):
        await harness.answer("c1", args={"text": "forbidden"})


@pytest.mark.spec("C4")
async def test_new_content_for_a_call_that_has_none_is_refused():
    harness = SchedulerHarness()
    await asked(harness, "run_note", text="a")
    with pytest.raises(Refused, match="no content"):
        await harness.answer("c1", content="x")


@pytest.mark.spec("C5")
async def test_a_tool_that_can_be_modified_says_how():
    harness = SchedulerHarness()
    harness.world.files["/w/f"] = "old"
    tool = next(tool for tool in harness.scheduler._transitions._registry if tool.name == "edit_note")  # pyright: ignore
    modifiable = tool.build({"path": "/w/f", "content": "new"}).modifiable()
    assert modifiable is not None
    assert (modifiable.file_path(), modifiable.current_content(), modifiable.proposed_content()) == (
        "/w/f",
        "old",
        "new",
    )
    assert modifiable.args_for("mine") == {"path": "/w/f", "content": "mine"}


MODES: dict[Mode, list[str]] = {
    "default": ["Success", "ask", "ask"],
    "auto_edit": ["Success", "Success", "ask"],
    "yolo": ["Success", "Success", "Success"],
    "plan": ["Success", "Failed", "Failed"],
}


@pytest.mark.spec("C6")
@pytest.mark.parametrize("mode", MODES)
async def test_a_mode_decides_what_runs_what_asks_and_what_is_refused(mode: Mode):
    harness = SchedulerHarness(mode=mode, gate="eager")
    harness.schedule(
        harness.call("read_note", text="a"),
        harness.call("edit_note", path="/w/f", content="x"),
        harness.call("run_note", text="b"),
    )
    await harness.settle()
    calls = harness.calls().values()
    assert ["ask" if isinstance(c, AwaitingApproval) else type(c).__name__ for c in calls] == MODES[mode]


@pytest.mark.spec("C6")
async def test_a_mode_change_judges_waiting_calls_again():
    harness = SchedulerHarness()
    batch = harness.schedule(harness.call("edit_note", path="/w/f", content="x"), harness.call("run_note", text="b"))
    await harness.settle()
    harness.policy.mode = "auto_edit"
    await harness.scheduler.rejudge()
    assert [call.request.tool for call in harness.scheduler.waiting()] == ["run_note"]
    harness.policy.mode = "plan"
    await harness.scheduler.rejudge()
    results = await batch.results()
    assert [type(call) for call in results] == [Failed, Failed]
    assert harness.world.effects == []


@pytest.mark.spec("B6")
async def test_a_mode_that_is_taken_back_before_the_batch_starts_lets_nothing_run_unasked():
    harness = SchedulerHarness()
    batch = harness.schedule(
        harness.call("edit_note", "edit", path="/w/f", content="x"),
        harness.call("run_note", "run", text="b"),
        harness.call("read_note", "read", text="c"),
    )
    await harness.settle()
    for mode in ("auto_edit", "default"):
        harness.policy.mode = mode
        await harness.scheduler.rejudge()
        await harness.settle()
    harness.scheduler.cancel_call("run", "no")
    await harness.settle()
    assert [call.request.call_id for call in harness.scheduler.waiting()] == ["edit"]
    assert harness.world.effects == [], "nothing runs while one call of the batch is undecided"
    await harness.answer("edit")
    assert [type(call) for call in await batch.results()] == [Success, Cancelled, Success]


@pytest.mark.spec("C6")
async def test_plan_mode_tells_the_model_why_it_was_refused():
    harness = SchedulerHarness(mode="plan")
    (call,) = await harness.schedule(harness.call("run_note", text="b")).results()
    assert isinstance(call, Failed)
    assert call.failure.type == "policy_violation" and "read-only" in call.failure.message


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "tool", "text", "runs"),
    [
        ("run_note", "run_note", "anything", True),
        ("run_note(git status)", "run_note", "git status", True),
        ("run_note(git status)", "run_note", "git status; rm x", False),
        ("run_note(git status)", "run_note", "git statusx", False),
        ("fetch_note(https://a.org/)", "fetch_note", "https://a.org/page", True),
        ("fetch_note(https://a.org/)", "fetch_note", "https://a.org.evil/", False),
        ("read_note", "run_note", "a", False),
    ],
)
async def test_allow_lists_by_tool_and_argument(rule: str, tool: str, text: str, runs: bool):
    harness = SchedulerHarness(rules=[parse_allowed(rule)])
    harness.schedule(harness.call(tool, text=text))
    await harness.settle()
    assert (harness.world.effects == [text]) is runs


@pytest.mark.spec("C7")
@pytest.mark.parametrize(
    ("rule", "tool", "text", "runs"),
    [
        (Rule(ruling="allow", server="notes"), "mcp_notes_add", "a", True),
        (Rule(ruling="allow", server="note"), "mcp_notes_add", "a", False),
        (Rule(ruling="allow", server="notes"), "run_note", "a", False),
        (Rule(ruling="allow", domain="example.org"), "fetch_note", "https://example.org/x", True),
        (Rule(ruling="allow", domain="example.org"), "fetch_note", "https://sub.example.org/x", True),
        (Rule(ruling="allow", domain="example.org"), "fetch_note", "https://badexample.org/x", False),
        (Rule(ruling="allow", domain="example.org"), "fetch_note", "https://example.org.evil.net/x", False),
        (Rule(ruling="allow", domain="example.org"), "fetch_note", "https://example.org@evil.net/x", False),
        (Rule(ruling="allow", domain="example.org"), "run_note", "a", False),
    ],
)
async def test_allow_lists_by_server_and_domain(rule: Rule, tool: str, text: str, runs: bool):
    harness = SchedulerHarness(rules=[rule])
    harness.schedule(harness.call(tool, text=text))
    await harness.settle()
    assert (harness.world.effects == [text]) is runs


@pytest.mark.spec("C7")
async def test_deny_goes_before_ask_and_ask_before_allow_whatever_the_order_and_the_mode():
    rules = [
        Rule(ruling="allow", tool="run_note"),
        Rule(ruling="ask", tool="run_note", argument="b"),
        Rule(ruling="deny", tool="run_note", argument="c"),
    ]
    harness = SchedulerHarness(rules=rules, mode="yolo", gate="eager")
    harness.schedule(*(harness.call("run_note", text=text) for text in "abc"))
    await harness.settle()
    assert [type(call) for call in harness.calls().values()] == [Success, AwaitingApproval, Failed]


@pytest.mark.parametrize("text", ["", "(x)", "tool()", "tool(", "two words"])
def test_a_rule_that_cannot_be_read_is_an_error(text: str):
    with pytest.raises(BadRule):
        parse_allowed(text)


def test_commas_inside_brackets_do_not_split_a_list_of_rules():
    assert split_allowed("a, run(echo 1, 2),b,") == ["a", "run(echo 1, 2)", "b"]


@pytest.mark.spec("C10")
async def test_the_first_answer_wins_and_the_late_one_is_told():
    harness = SchedulerHarness()
    batch = await asked(harness, "run_note", text="a")
    digest = harness.approval("c1").digest
    await harness.answer("c1", by="ann")
    with pytest.raises(NotWaiting):
        await harness.answer("c1", "cancel", digest=digest, by="bob")
    assert isinstance((await batch.results())[0], Success)
    with pytest.raises(NotWaiting):
        await harness.answer("c1", digest=digest)


@pytest.mark.spec("C10")
async def test_of_two_answers_that_come_together_exactly_one_is_taken():
    harness = SchedulerHarness()
    batch = await asked(harness, "edit_note", path="/w/f", content="x")
    digest = harness.approval("c1").digest
    taken = await asyncio.gather(
        harness.answer("c1", content="from ann", digest=digest, by="ann"),
        harness.answer("c1", content="from bob", digest=digest, by="bob"),
        return_exceptions=True,
    )
    await batch.results()
    assert [type(result) for result in taken].count(NotWaiting) == 1
    assert len(harness.recorded(ApprovalAnswered)) == 1
    assert harness.world.files["/w/f"] == f"from {harness.recorded(ApprovalAnswered)[0].by}"


@pytest.mark.spec("C10")
async def test_an_answer_to_a_call_that_does_not_exist_is_refused():
    harness = SchedulerHarness()
    with pytest.raises(NotWaiting, match="no call nothing is waiting"):
        await harness.answer("nothing", digest="x")


@pytest.mark.spec("J3")
async def test_an_answer_to_something_else_than_what_is_asked_is_refused():
    harness = SchedulerHarness()
    await asked(harness, "run_note", text="a")
    with pytest.raises(Refused, match="changed since it was shown"):
        await harness.answer("c1", digest="0" * 64)
    assert harness.recorded(CallStarted) == []


@pytest.mark.spec("J3")
async def test_a_file_that_changed_after_the_answer_is_asked_again():
    harness = SchedulerHarness()
    harness.world.files["/w/f"] = "old"
    batch = harness.schedule(harness.call("edit_note", path="/w/f", content="new"), harness.call("run_note", text="b"))
    await harness.settle()
    await harness.answer("c1")
    harness.world.files["/w/f"] = "changed by someone"
    await harness.answer("c2")
    await harness.settle()
    assert harness.world.effects == []
    again = harness.approval("c1")
    assert isinstance(again.details, EditDetails) and again.details.old == "changed by someone"
    assert "changed since you approved" in again.why
    await harness.answer("c1")
    await batch.results()
    assert harness.world.files["/w/f"] == "new"


@pytest.mark.spec("J3")
async def test_two_edits_of_one_file_are_asked_again_after_the_first_is_written():
    harness = SchedulerHarness()
    batch = harness.schedule(
        harness.call("edit_note", path="/w/f", content="one"), harness.call("edit_note", path="/w/f", content="two")
    )
    await harness.settle()
    await harness.answer("c1")
    await harness.answer("c2")
    await harness.settle()
    assert harness.world.files == {"/w/f": "one"}
    assert [call.request.call_id for call in harness.scheduler.waiting()] == ["c2"]
    await harness.answer("c2")
    assert [type(call) for call in await batch.results()] == [Success, Success]
    assert harness.world.files == {"/w/f": "two"}


@pytest.mark.spec("J3")
async def test_every_start_names_the_digest_that_was_approved():
    harness = SchedulerHarness()
    batch = await asked(harness, "run_note", text="a")
    digest = harness.approval("c1").digest
    await harness.answer("c1")
    await batch.results()
    assert [event.digest for event in harness.recorded(CallStarted)] == [digest]


async def test_an_unanswered_question_expires_and_never_becomes_a_yes():
    harness = SchedulerHarness(approval_ttl=0.0)
    (call,) = await harness.schedule(harness.call("run_note", text="a")).results()
    assert isinstance(call, Cancelled)
    assert "expired" in call.result.response["error"]
    assert harness.recorded(ApprovalRequested)[0].approval.expires_at == 1000.0
    assert harness.world.effects == []


async def test_an_always_answer_is_recorded_as_a_grant_with_its_origin():
    harness = SchedulerHarness()
    batch = await asked(harness, "run_note", text="make")
    shown = harness.approval("c1").scopes[0]
    await harness.answer("c1", "proceed_always", by="ann")
    await batch.results()
    (event,) = harness.recorded(GrantAdded)
    assert event.grant.reach == shown.reach == "Exactly `make`, and nothing else, in /w, for this session."
    assert (event.grant.by, event.grant.from_call) == ("ann", "c1")


@pytest.mark.spec("C4")
@pytest.mark.spec("J4")
async def test_always_cannot_be_combined_with_changed_arguments():
    harness = SchedulerHarness()
    batch = await asked(harness, "run_note", text="danger")
    with pytest.raises(Refused, match="approved once"):
        await harness.answer("c1", "proceed_always", args={"text": "harmless"})
    assert harness.recorded(GrantAdded) == []
    await harness.answer("c1", args={"text": "harmless"})
    await batch.results()
    assert harness.world.effects == ["harmless"]


@pytest.mark.spec("J4")
async def test_a_counted_grant_lets_through_no_more_calls_than_it_counts():
    harness = SchedulerHarness()
    batch = await asked(harness, "edit_note", path="/w/f", content="first")
    digest = harness.approval("c1").digest
    await harness.scheduler.answer(
        Answer(call_id="c1", outcome="proceed_always", digest=digest, grant_uses=2, by="ann")
    )
    await batch.results()
    harness.schedule(*(harness.call("edit_note", path="/w/f", content=f"more {n}") for n in range(4)))
    await harness.settle()
    assert len([effect for effect in harness.world.effects if "more" in effect]) == 2
    assert harness.scheduler.waiting(), "the others are asked about, one after the other, as they touch one file"
