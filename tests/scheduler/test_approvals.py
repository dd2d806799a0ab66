"""Questions and answers: rows C1, C2, C4 to C7, C10, J3."""

import asyncio

import pytest

from assent.approval import EditDetails, ExecDetails, InfoDetails, McpDetails, Mode, Outcome
from assent.commands import Answer
from assent.events import ApprovalAnswered, ApprovalModifying, ApprovalRequested, CallStarted, GrantAdded
from assent.policy.rules import BadRule, Rule, parse_allowed, split_allowed
from assent.scheduler.approvals import NotWaiting, Refused
from assent.scheduler.batch import Batch
from assent.scheduler.call import AwaitingApproval, Cancelled, Failed, Success
from assent.tools.support.diff import diff
from support.desk import Desk


async def asked(desk: Desk, tool: str, **args: object) -> Batch:
    batch = desk.schedule(desk.call(tool, args=args))
    await desk.settle()
    return batch


@pytest.mark.spec("C1")
async def test_each_kind_of_question_has_its_own_details():
    desk = Desk()
    desk.world.files["/w/f"] = "old"
    desk.schedule(
        desk.call("edit_note", path="/w/f", content="new"),
        desk.call("run_note", text="make all"),
        desk.call("fetch_note", text="https://example.org/a"),
        desk.call("mcp_notes_add", text="x"),
    )
    await desk.settle()
    details = [desk.approval(f"c{n}").details for n in (1, 2, 3, 4)]
    assert details == [
        EditDetails(path="/w/f", diff=diff("/w/f", "old", "new").text, old="old", new="new"),
        ExecDetails("make all", ("make",), "/w", "medium", "It runs the recipes of a Makefile."),
        InfoDetails("fetch https://example.org/a", ("https://example.org/a",)),
        McpDetails(server="notes", tool="add", args={"text": "x"}),
    ]


@pytest.mark.spec("C2")
async def test_each_kind_offers_the_outcomes_that_make_sense_for_it():
    desk = Desk()
    desk.schedule(
        desk.call("edit_note", path="/w/f", content="new"),
        desk.call("run_note", text="a"),
        desk.call("mcp_notes_add", text="x"),
    )
    await desk.settle()
    once_always: tuple[Outcome, ...] = ("proceed_once", "proceed_always")
    assert desk.approval("c1").options == (*once_always, "modify_with_editor", "cancel")
    assert desk.approval("c2").options == (*once_always, "cancel")
    assert desk.approval("c3").options == (*once_always, "proceed_always_server", "proceed_always_tool", "cancel")


@pytest.mark.spec("C2")
async def test_an_outcome_that_is_not_offered_is_refused_and_the_question_stays():
    desk = Desk()
    await asked(desk, "run_note", text="a")
    with pytest.raises(Refused, match="proceed_always_tool is not offered"):
        await desk.answer("c1", "proceed_always_tool")
    assert isinstance(desk.calls()["c1"], AwaitingApproval)


@pytest.mark.spec("C2")
async def test_a_cancel_carries_its_reason_to_the_model():
    desk = Desk()
    batch = await asked(desk, "run_note", text="a")
    await desk.answer("c1", "cancel", reason="use the other branch")
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
    desk = Desk()
    batch = await asked(desk, "mcp_notes_add", text="x")
    await desk.answer("c1", outcome)
    await batch.results()
    desk.schedule(desk.call("mcp_notes_add", text="y"), desk.call("mcp_notes_remove", text="y"))
    await desk.settle()
    assert [call.request.tool for call in desk.scheduler.waiting()] == still_asked


@pytest.mark.spec("C2")
async def test_modify_with_editor_marks_the_call_then_asks_again_with_the_edited_text():
    desk = Desk()
    batch = await asked(desk, "edit_note", path="/w/f", content="proposed")
    await desk.answer("c1", "modify_with_editor")
    assert desk.journal.announced == [ApprovalModifying("c1", "ann")]
    first = desk.approval("c1")
    await desk.answer("c1", "modify_with_editor", content="edited")
    second = desk.approval("c1")
    assert second.digest != first.digest
    assert isinstance(second.details, EditDetails) and second.details.new == "edited"
    assert desk.world.files == {}
    await desk.answer("c1")
    (call,) = await batch.results()
    assert desk.world.files == {"/w/f": "edited"}
    assert "The user changed the arguments" in call.result.response["note"]


async def test_an_editor_that_changed_nothing_takes_its_own_mark_away_and_asks_nothing_anew():
    desk = Desk()
    await asked(desk, "edit_note", path="/w/f", content="proposed")
    before = desk.approval("c1")
    await desk.answer("c1", "modify_with_editor")
    await desk.answer("c1", "modify_with_editor", content="proposed")
    assert desk.journal.announced == [ApprovalModifying("c1", "ann"), ApprovalModifying("c1", "")]
    assert desk.approval("c1") == before
    await desk.answer("c1", "modify_with_editor", by="bob")
    await desk.answer("c1", "modify_with_editor", content="proposed")
    assert desk.journal.announced[2:] == [ApprovalModifying("c1", "bob")], "another one is at it"


@pytest.mark.spec("J6")
async def test_part_of_a_diff_is_accepted_hunk_by_hunk():
    desk = Desk()
    old = "".join(f"line {number}\n" for number in range(20))
    desk.world.files["/w/f"] = old
    batch = await asked(
        desk, "edit_note", path="/w/f", content=old.replace("line 2\n", "two\n").replace("19\n", "last\n")
    )
    with pytest.raises(Refused, match="there is no hunk 7"):
        await desk.answer("c1", hunks=(7,))
    with pytest.raises(Refused, match="say no"):
        await desk.answer("c1", hunks=())
    await desk.answer("c1", hunks=(1,))
    (call,) = await batch.results()
    assert desk.world.files["/w/f"] == old.replace("19\n", "last\n")
    assert "The user changed the arguments" in call.result.response["note"]


async def test_what_is_no_change_of_a_file_has_no_hunks():
    desk = Desk()
    await asked(desk, "run_note", text="x")
    with pytest.raises(Refused, match="hunks"):
        await desk.answer("c1", hunks=(0,))


@pytest.mark.spec("C4")
@pytest.mark.parametrize("how", ["content", "args"])
async def test_an_answer_may_carry_new_content_and_it_is_applied_to_that_very_call(how: str):
    desk = Desk()
    batch = desk.schedule(
        desk.call("edit_note", path="/w/a", content="one"), desk.call("edit_note", path="/w/b", content="two")
    )
    await desk.settle()
    new = {"content": "changed"} if how == "content" else {"args": {"path": "/w/b", "content": "changed"}}
    await desk.answer("c2", **new)  # pyright: ignore[reportArgumentType]
    await desk.answer("c1")
    results = await batch.results()
    assert desk.world.files == {"/w/a": "one", "/w/b": "changed"}
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
    desk = Desk()
    await asked(desk, "edit_note", path="/w/f", content="one")
    with pytest.raises(Refused, match="Invalid arguments"):
        await desk.answer("c1", args=args)
    assert isinstance(desk.calls()["c1"], AwaitingApproval)
    assert desk.recorded(ApprovalAnswered) == []


@pytest.mark.spec("C4")
async def test_edited_arguments_cannot_pass_a_deny_rule():
    desk = Desk(rules=[Rule(ruling="deny", tool="run_note", argument="forbidden")])
    await asked(desk, "run_note", text="fine")
    with pytest.raises(Refused, match="forbids"):
        await desk.answer("c1", args={"text": "forbidden"})


@pytest.mark.spec("C4")
async def test_new_content_for_a_call_that_has_none_is_refused():
    desk = Desk()
    await asked(desk, "run_note", text="a")
    with pytest.raises(Refused, match="no content"):
        await desk.answer("c1", content="x")


@pytest.mark.spec("C5")
async def test_a_tool_that_can_be_modified_says_how():
    desk = Desk()
    desk.world.files["/w/f"] = "old"
    tool = next(tool for tool in desk.scheduler._steps._registry if tool.name == "edit_note")  # pyright: ignore
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
    desk = Desk(mode=mode, gate="eager")
    desk.schedule(
        desk.call("read_note", text="a"),
        desk.call("edit_note", path="/w/f", content="x"),
        desk.call("run_note", text="b"),
    )
    await desk.settle()
    calls = desk.calls().values()
    assert ["ask" if isinstance(c, AwaitingApproval) else type(c).__name__ for c in calls] == MODES[mode]


@pytest.mark.spec("C6")
async def test_a_mode_change_judges_waiting_calls_again():
    desk = Desk()
    batch = desk.schedule(desk.call("edit_note", path="/w/f", content="x"), desk.call("run_note", text="b"))
    await desk.settle()
    desk.policy.mode = "auto_edit"
    await desk.scheduler.rejudge()
    assert [call.request.tool for call in desk.scheduler.waiting()] == ["run_note"]
    desk.policy.mode = "plan"
    await desk.scheduler.rejudge()
    results = await batch.results()
    assert [type(call) for call in results] == [Failed, Failed]
    assert desk.world.effects == []


@pytest.mark.spec("C6")
async def test_plan_mode_tells_the_model_why_it_was_refused():
    desk = Desk(mode="plan")
    (call,) = await desk.schedule(desk.call("run_note", text="b")).results()
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
    desk = Desk(rules=[parse_allowed(rule)])
    desk.schedule(desk.call(tool, text=text))
    await desk.settle()
    assert (desk.world.effects == [text]) is runs


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
    desk = Desk(rules=[rule])
    desk.schedule(desk.call(tool, text=text))
    await desk.settle()
    assert (desk.world.effects == [text]) is runs


@pytest.mark.spec("C7")
async def test_deny_goes_before_ask_and_ask_before_allow_whatever_the_order_and_the_mode():
    rules = [
        Rule(ruling="allow", tool="run_note"),
        Rule(ruling="ask", tool="run_note", argument="b"),
        Rule(ruling="deny", tool="run_note", argument="c"),
    ]
    desk = Desk(rules=rules, mode="yolo", gate="eager")
    desk.schedule(*(desk.call("run_note", text=text) for text in "abc"))
    await desk.settle()
    assert [type(call) for call in desk.calls().values()] == [Success, AwaitingApproval, Failed]


@pytest.mark.parametrize("text", ["", "(x)", "tool()", "tool(", "two words"])
def test_a_rule_that_cannot_be_read_is_an_error(text: str):
    with pytest.raises(BadRule):
        parse_allowed(text)


def test_commas_inside_brackets_do_not_split_a_list_of_rules():
    assert split_allowed("a, run(echo 1, 2),b,") == ["a", "run(echo 1, 2)", "b"]


@pytest.mark.spec("C10")
async def test_the_first_answer_wins_and_the_late_one_is_told():
    desk = Desk()
    batch = await asked(desk, "run_note", text="a")
    digest = desk.approval("c1").digest
    await desk.answer("c1", by="ann")
    with pytest.raises(NotWaiting):
        await desk.answer("c1", "cancel", digest=digest, by="bob")
    assert isinstance((await batch.results())[0], Success)
    with pytest.raises(NotWaiting):
        await desk.answer("c1", digest=digest)


@pytest.mark.spec("C10")
async def test_of_two_answers_that_come_together_exactly_one_is_taken():
    desk = Desk()
    batch = await asked(desk, "edit_note", path="/w/f", content="x")
    digest = desk.approval("c1").digest
    taken = await asyncio.gather(
        desk.answer("c1", content="from ann", digest=digest, by="ann"),
        desk.answer("c1", content="from bob", digest=digest, by="bob"),
        return_exceptions=True,
    )
    await batch.results()
    assert [type(result) for result in taken].count(NotWaiting) == 1
    assert len(desk.recorded(ApprovalAnswered)) == 1
    assert desk.world.files["/w/f"] == f"from {desk.recorded(ApprovalAnswered)[0].by}"


@pytest.mark.spec("C10")
async def test_an_answer_to_a_call_that_does_not_exist_is_refused():
    desk = Desk()
    with pytest.raises(NotWaiting, match="no call nothing waits"):
        await desk.answer("nothing", digest="x")


@pytest.mark.spec("J3")
async def test_an_answer_to_something_else_than_what_is_asked_is_refused():
    desk = Desk()
    await asked(desk, "run_note", text="a")
    with pytest.raises(Refused, match="changed since it was shown"):
        await desk.answer("c1", digest="0" * 64)
    assert desk.recorded(CallStarted) == []


@pytest.mark.spec("J3")
async def test_a_file_that_changed_after_the_answer_is_asked_again():
    desk = Desk()
    desk.world.files["/w/f"] = "old"
    batch = desk.schedule(desk.call("edit_note", path="/w/f", content="new"), desk.call("run_note", text="b"))
    await desk.settle()
    await desk.answer("c1")
    desk.world.files["/w/f"] = "changed by somebody"
    await desk.answer("c2")
    await desk.settle()
    assert desk.world.effects == []
    again = desk.approval("c1")
    assert isinstance(again.details, EditDetails) and again.details.old == "changed by somebody"
    assert "changed after you approved" in again.why
    await desk.answer("c1")
    await batch.results()
    assert desk.world.files["/w/f"] == "new"


@pytest.mark.spec("J3")
async def test_two_edits_of_one_file_are_asked_again_after_the_first_is_written():
    desk = Desk()
    batch = desk.schedule(
        desk.call("edit_note", path="/w/f", content="one"), desk.call("edit_note", path="/w/f", content="two")
    )
    await desk.settle()
    await desk.answer("c1")
    await desk.answer("c2")
    await desk.settle()
    assert desk.world.files == {"/w/f": "one"}
    assert [call.request.call_id for call in desk.scheduler.waiting()] == ["c2"]
    await desk.answer("c2")
    assert [type(call) for call in await batch.results()] == [Success, Success]
    assert desk.world.files == {"/w/f": "two"}


@pytest.mark.spec("J3")
async def test_every_start_names_the_digest_that_was_approved():
    desk = Desk()
    batch = await asked(desk, "run_note", text="a")
    digest = desk.approval("c1").digest
    await desk.answer("c1")
    await batch.results()
    assert [event.digest for event in desk.recorded(CallStarted)] == [digest]


async def test_an_unanswered_question_expires_and_never_becomes_a_yes():
    desk = Desk(approval_ttl=0.0)
    (call,) = await desk.schedule(desk.call("run_note", text="a")).results()
    assert isinstance(call, Cancelled)
    assert "expired" in call.result.response["error"]
    assert desk.recorded(ApprovalRequested)[0].approval.expires_at == 1000.0
    assert desk.world.effects == []


async def test_an_always_answer_is_recorded_as_a_grant_with_its_origin():
    desk = Desk()
    batch = await asked(desk, "run_note", text="make")
    shown = desk.approval("c1").scopes[0]
    await desk.answer("c1", "proceed_always", by="ann")
    await batch.results()
    (event,) = desk.recorded(GrantAdded)
    assert event.grant.reach == shown.reach == "Exactly `make`, with no other word, in /w, for this session."
    assert (event.grant.by, event.grant.from_call) == ("ann", "c1")


@pytest.mark.spec("C4")
@pytest.mark.spec("J4")
async def test_always_cannot_be_combined_with_changed_arguments():
    desk = Desk()
    batch = await asked(desk, "run_note", text="danger")
    with pytest.raises(Refused, match="approved once"):
        await desk.answer("c1", "proceed_always", args={"text": "harmless"})
    assert desk.recorded(GrantAdded) == []
    await desk.answer("c1", args={"text": "harmless"})
    await batch.results()
    assert desk.world.effects == ["harmless"]


@pytest.mark.spec("J4")
async def test_a_counted_grant_lets_through_no_more_calls_than_it_counts():
    desk = Desk()
    batch = await asked(desk, "edit_note", path="/w/f", content="first")
    digest = desk.approval("c1").digest
    await desk.scheduler.answer(Answer(call_id="c1", outcome="proceed_always", digest=digest, grant_uses=2, by="ann"))
    await batch.results()
    desk.schedule(*(desk.call("edit_note", path="/w/f", content=f"more {n}") for n in range(4)))
    await desk.settle()
    assert len([effect for effect in desk.world.effects if "more" in effect]) == 2
    assert desk.scheduler.waiting(), "the others are asked about, one after the other, as they touch one file"
