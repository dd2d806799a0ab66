"""A prompt's whole way through a session: rows F2 to F4, F10, C10, J1, J2, E4, G4's queue."""

import asyncio
import gc
import sqlite3
import weakref
from contextlib import closing
from pathlib import Path

import pytest

from assent.approval import Outcome
from assent.commands import Answer, CancelCall, CancelTurn, Rename, RunTool, SetMode, SetModel, Submit, Withdraw
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallStarted,
    CommandTaken,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    TextDelta,
    ThoughtDelta,
    TurnFinished,
)
from assent.models.model_protocol import BadRequest
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import Call, ModelMessage, Result, Text, Thought, UserMessage
from assent.scheduler.call import Failed
from assent.session.fork import fork_session
from assent.session.log import Fence, Inboxed, LogDamaged, LogUnavailable, Opening, SessionBusy
from assent.session.memory_log import MemoryLog
from assent.session.run_options import RunOptions
from assent.session.runner import Runner
from assent.session.sqlite_log import SqliteLog
from assent.session.state import fold
from assent.tools.registry import Registry
from assent.tools.support.background_processes import BackgroundCommands
from support.doubles import ReadNote, World
from support.session_harness import SessionHarness, call, calls, crash, text
from support.waiting import WAIT_LIMIT


@pytest.mark.spec("F2")
async def test_results_go_back_to_the_model_until_no_call_is_left():
    harness = SessionHarness(
        calls({"text": "I look."}, call("read_note", "a", text="one"), call("read_note", "b", text="two")),
        calls(call("read_note", "c", text="three")),
        text("Done."),
    )
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "completed"
    assert harness.world.effects == ["one", "two", "three"]
    last = harness.model.requests[-1].messages
    assert [type(message) for message in last] == [UserMessage, ModelMessage, UserMessage, ModelMessage, UserMessage]
    results = [part for part in last[2].parts if isinstance(part, Result)]
    assert [(result.call_id, result.response) for result in results] == [
        ("a", {"output": "noted one"}),
        ("b", {"output": "noted two"}),
    ]


@pytest.mark.spec("F2")
@pytest.mark.spec("F10")
async def test_every_event_of_a_turn_has_the_same_prompt_id_and_prompts_are_numbered():
    harness = SessionHarness(calls(call("read_note", "a", text="one")), text("Done."), text("Again."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until_done()
        await harness.send(runner, Submit("second"))
        await harness.until_done(2)
    first = f"{harness.session}########0"
    assert [event.prompt_id for event in harness.recorded(PromptSubmitted)] == [first, f"{harness.session}########1"]
    assert {event.prompt_id for event in harness.recorded(ModelReplied)[:2]} == {first}
    assert harness.recorded(TurnFinished)[0].prompt_id == first


@pytest.mark.spec("F3")
async def test_when_all_calls_are_cancelled_the_model_is_not_called_but_the_history_has_the_results():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Noted."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
        await harness.answer(runner, "a", "cancel")
        assert (await harness.until_done()).status == "cancelled"
        assert len(harness.model.requests) == 1
        await harness.send(runner, Submit("why not?"))
        await harness.until_done(2)
    results = [part for part in harness.model.requests[1].messages[2].parts if isinstance(part, Result)]
    assert "[Operation Cancelled]" in results[0].response["error"]


@pytest.mark.spec("F3")
async def test_a_refusal_with_a_reason_is_an_answer_and_the_model_goes_on():
    harness = SessionHarness(calls(call("run_note", "a", text="x"), call("run_note", "b", text="y")), text("Noted."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner, 2)
        await harness.answer(runner, "a", "cancel")
        await harness.answer(runner, "b", "cancel", reason="use the other branch")
        assert (await harness.until_done()).status == "completed"
    results = [part for part in harness.model.requests[1].messages[-1].parts if isinstance(part, Result)]
    assert "use the other branch" in results[1].response["error"]


@pytest.mark.spec("F3")
async def test_when_only_some_calls_are_cancelled_the_model_goes_on():
    harness = SessionHarness(calls(call("run_note", "a", text="x"), call("read_note", "b", text="y")), text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
        await harness.answer(runner, "a", "cancel")
        assert (await harness.until_done()).status == "completed"
    assert len(harness.model.requests) == 2


@pytest.mark.spec("B11")
async def test_whoever_hears_that_an_always_was_taken_finds_nothing_asked_that_it_covers():
    asking = calls(*(call("run_note", id, text="same") for id in "abc"), call("run_note", "d", text="other"))
    harness = SessionHarness(asking, text("Done."))
    still_waiting: list[list[str]] = []

    def on_event(envelope: Envelope) -> None:
        if isinstance(envelope.event, CommandTaken) and runner.waiting():
            still_waiting.append([waiting.request.call_id for waiting in runner.waiting()])

    harness.options["listeners"] = [on_event]
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner, 4)
        await harness.answer(runner, "a", "proceed_always")
        assert still_waiting == [["d"]]
        assert await harness.log.inbox(harness.session) == []


@pytest.mark.spec("F4")
@pytest.mark.spec("E4")
async def test_what_a_person_runs_stays_with_the_person():
    harness = SessionHarness(text("Hello."))
    async with await harness.open() as runner:
        await harness.send(runner, RunTool("run_note", {"text": "mine"}, by="ann"))
        await harness.until_event(CallFinished)
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
    assert harness.world.effects == ["mine"]
    assert harness.model.requests[0].messages == (UserMessage((Text("hi"),)),)


async def test_a_prompt_sent_while_busy_waits_in_the_inbox_and_runs_next():
    harness = SessionHarness(calls(call("read_note", "a", text="one", door="d")), text("First."), text("Second."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until(lambda: harness.world.running)
        await runner.send(Submit("second"))
        assert [item.command for item in await harness.log.inbox(harness.session)] == [Submit("second")]
        harness.world.door("d").set()
        await harness.until_done(2)
    assert [event.text for event in harness.recorded(PromptSubmitted)] == ["first", "second"]


async def test_a_repeated_command_with_the_same_key_is_one_prompt():
    harness = SessionHarness(text("One."), text("Two."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("hi"), key="k")
        await harness.until_done()
        await runner.send(Submit("hi"), key="k")
        await harness.send(runner, SetMode("plan"))
    assert len(harness.recorded(PromptSubmitted)) == 1


@pytest.mark.spec("B10")
@pytest.mark.spec("F1")
async def test_cancelling_while_the_model_speaks_keeps_the_text_so_far():
    harness = SessionHarness(
        {"chunks": [{"text": "half a sen"}, {"pause_ms": 10_000_000}, {"text": "tence"}]}, text("ok")
    )
    async with await harness.open() as runner:
        harness.model._sleep = lambda _: asyncio.Event().wait()  # pyright: ignore
        await harness.send(runner, Submit("go"))
        await harness.until_event(TextDelta)
        await harness.send(runner, CancelTurn("enough"))
        assert (await harness.until_done()).status == "cancelled"
    (reply,) = harness.recorded(ModelReplied)
    assert (reply.parts, reply.finish) == ((Text("half a sen"),), "cancelled")


@pytest.mark.spec("B10")
@pytest.mark.parametrize("said", [[], [{"text": "half a sen"}]])
async def test_cancelling_while_the_model_speaks_keeps_its_thoughts_for_people_and_sends_them_to_no_model(
    said: list[dict[str, str]],
):
    thought = {"thought": "**Plan** first this", "signature": "signed"}
    harness = SessionHarness({"chunks": [thought, *said, {"pause_ms": 10_000_000}, {"text": "tence"}]}, text("ok"))
    async with await harness.open() as runner:
        harness.model._sleep = lambda _: asyncio.Event().wait()  # pyright: ignore
        await harness.send(runner, Submit("go"))
        await harness.until_event(TextDelta if said else ThoughtDelta)
        await harness.send(runner, CancelTurn("enough"))
        await harness.until_done()
        reply, *_ = harness.recorded(ModelReplied)
        assert reply.parts[0] == Thought("first this", None, "Plan")
        assert list(reply.parts[1:]) == [Text(one["text"]) for one in said]


@pytest.mark.spec("B10")
async def test_cancelling_while_tools_run_keeps_what_was_done_for_the_next_prompt():
    harness = SessionHarness(calls(call("read_note", "a", text="x", door="never", print="part")), text("I see."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until(lambda: harness.world.running)
        await harness.send(runner, CancelTurn("stop it"))
        assert (await harness.until_done()).status == "cancelled"
        await harness.send(runner, Submit("what happened?"))
        await harness.until_done(2)
    results = [part for part in harness.model.requests[1].messages[2].parts if isinstance(part, Result)]
    assert results[0].response == {"error": "[Operation Cancelled] Reason: stop it", "output": "part"}


async def test_one_running_call_can_be_cancelled_alone():
    harness = SessionHarness(
        calls(call("read_note", "a", text="x", door="never"), call("read_note", "b", text="y")), text("Done.")
    )
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until(lambda: harness.world.running)
        assert await harness.send(runner, CancelCall("a")) == ""
        assert await harness.send(runner, CancelCall("zzz")) == "call zzz is not in progress"
        assert (await harness.until_done()).status == "completed"


async def test_cancelling_when_nothing_runs_is_refused_with_a_reason():
    harness = SessionHarness()
    async with await harness.open() as runner:
        assert await harness.send(runner, CancelTurn()) == "there is nothing to cancel"


@pytest.mark.spec("B10")
async def test_a_turn_that_is_cancelled_before_it_could_begin_ends_as_cancelled():
    harness = SessionHarness(text("never"))
    async with await harness.open():
        pass
    await harness.log.put(harness.session, "first", Submit("go"))
    await harness.log.put(harness.session, "second", CancelTurn("changed my mind"))
    async with await harness.open():
        assert (await harness.until_done()).status == "cancelled"


@pytest.mark.spec("C6")
async def test_a_mode_set_by_command_releases_what_waits_and_is_remembered():
    harness = SessionHarness(calls(call("edit_note", "a", path="/w/f", content="x")), text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
        await harness.send(runner, SetMode("auto_edit", by="ann"))
        await harness.until_done()
    async with await harness.open() as again:
        assert again.state.mode == "auto_edit"


@pytest.mark.spec("C10")
async def test_a_late_answer_is_told_who_answered():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
        assert await harness.answer(runner, "a", by="ann") == ""
        await harness.until_done()
        assert await harness.answer(runner, "a", "cancel", by="bob") == "already answered by ann"
    assert harness.world.effects == ["x"]


@pytest.mark.spec("J1")
async def test_a_question_survives_a_crash_unchanged_and_its_call_runs_once():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (before,) = await harness.until_waiting(runner)
    await crash(harness, runner)
    assert harness.world.effects == []

    async with await harness.open() as runner:
        (after,) = await harness.until_waiting(runner)
        assert after.approval == before.approval
        await harness.answer(runner, "a")
        assert (await harness.until_done()).status == "completed"
    assert harness.world.effects == ["x"]
    assert len(await harness.stored(ApprovalRequested)) == 1


@pytest.mark.spec("J1")
async def test_an_answer_given_while_nobody_runs_the_session_counts_when_it_is_opened():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (waiting,) = await harness.until_waiting(runner)
    await crash(harness, runner)
    await harness.log.put(
        harness.session, "k", Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest, by="phone")
    )
    async with await harness.open():
        assert (await harness.until_done()).status == "completed"
    assert harness.world.effects == ["x"]


@pytest.mark.spec("J1")
@pytest.mark.spec("J3")
async def test_a_question_whose_file_changed_while_assent_was_stopped_is_asked_again():
    harness = SessionHarness(calls(call("edit_note", "a", path="/w/f", content="new")), text("Done."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (before,) = await harness.until_waiting(runner)
    await crash(harness, runner)
    harness.world.files["/w/f"] = "someone was here"
    async with await harness.open() as runner:
        await harness.until_event(ApprovalRequested)
        (after,) = runner.waiting()
        assert after.approval.digest != before.approval.digest
        assert "while Assent was stopped" in after.approval.why


@pytest.mark.spec("J2")
async def test_a_call_that_was_running_at_the_crash_is_unknown_and_the_model_is_told():
    harness = SessionHarness(calls(call("read_note", "a", text="x", door="d")), text("I check first."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    await harness.until(lambda: harness.world.running)
    await crash(harness, runner)
    async with await harness.open() as runner:
        assert (await harness.until_done()).status == "completed"
        finished = runner.state.calls["a"]
    assert harness.world.effects == ["x"]
    assert isinstance(finished, Failed) and finished.failure.type == "interrupted"
    (result,) = harness.model.requests[0].messages[-1].parts
    assert isinstance(result, Result) and "unknown" in result.response["error"]


@pytest.mark.spec("J2")
async def test_a_call_that_was_approved_but_not_started_is_asked_again():
    harness = SessionHarness(calls(call("run_note", "a", text="x"), call("run_note", "b", text="y")), text("Done."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    await harness.until_waiting(runner, 2)
    await harness.answer(runner, "a")
    await crash(harness, runner)
    async with await harness.open() as runner:
        waiting = await harness.until_waiting(runner, 2)
        assert "stopped before it started" in waiting[0].approval.why
        assert await harness.stored(CallStarted) == []
        await harness.answer(runner, "a")
        await harness.answer(runner, "b")
        await harness.until_done()
    assert sorted(harness.world.effects) == ["x", "y"]


@pytest.mark.spec("J2")
async def test_calls_of_a_reply_that_were_never_scheduled_go_on_after_a_crash():
    harness = SessionHarness(calls(call("read_note", "a", text="x")), text("Done."))
    async with await harness.open():
        pass
    fence = await harness.log.acquire(harness.session)
    prompt_id = f"{harness.session}########0"
    reply = ModelReplied(
        prompt_id=prompt_id, model="scripted", parts=(Call("a", "read_note", {"text": "x"}),), finish="stop"
    )
    left_behind = (PromptSubmitted(prompt_id, "go", "ann"), reply)
    await harness.log.append(fence, [Envelope(n, 1.0, harness.session, e) for n, e in enumerate(left_behind, start=3)])
    await harness.log.release(fence)
    async with await harness.open():
        assert (await harness.until_done()).status == "completed"
    assert harness.world.effects == ["x"]


async def test_closing_keeps_questions_and_stops_what_runs():
    harness = SessionHarness(
        calls(call("run_note", "a", text="x"), call("read_note", "b", text="y", door="never")), text("Done.")
    )
    runner = await harness.open(gate="eager")
    await harness.send(runner, Submit("go"))
    await harness.until(lambda: harness.world.running)
    await harness.until_waiting(runner)
    await runner.close()
    assert harness.world.running == 0
    assert [event.call_id for event in await harness.stored(CallFinished)] == ["b"]
    assert await harness.stored(TurnFinished) == []
    async with await harness.open(gate="eager") as runner:
        await harness.until_waiting(runner)
        await harness.answer(runner, "a")
        assert (await harness.until_done()).status == "completed"


async def test_two_runners_on_one_session_the_second_is_refused():
    harness = SessionHarness()
    async with await harness.open():
        with pytest.raises(SessionBusy):
            await harness.open()


async def test_a_question_in_a_fork_is_asked_anew_and_for_the_same_reason():
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (before,) = await harness.until_waiting(runner)
    await crash(harness, runner)
    harness.session = await fork_session(harness.log, harness.session)
    async with await harness.open() as runner:
        await harness.until_event(ApprovalRequested)
        (after,) = runner.waiting()
        assert after.approval.digest != before.approval.digest
        assert after.approval.why == before.approval.why


@pytest.mark.spec("F11")
async def test_a_fork_knows_everything_and_goes_its_own_way():
    harness = SessionHarness(text("One."), calls(call("run_note", "a", text="x")), text("Two."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until_done()
        await harness.send(runner, Submit("second"))
        (waiting,) = await harness.until_waiting(runner)
    original = harness.session
    before = await harness.log.read(original)
    harness.session = await fork_session(harness.log, original)
    harness.events.clear()
    async with await harness.open() as runner:
        await harness.until_event(ApprovalRequested)
        (again,) = runner.waiting()
        assert again.approval.digest != waiting.approval.digest, "an answer covers one session only"
        await harness.answer(runner, "a")
        await harness.until_done()
        assert runner.state.session == harness.session
    assert await harness.log.read(original) == before


@pytest.mark.spec("F11")
@pytest.mark.parametrize(
    ("title", "forked"), [("Fix it", "Fix it (fork)"), ("Fix it (fork)", "Fix it (fork 2)"), ("", "")]
)
async def test_the_name_of_a_fork_says_so(title: str, forked: str):
    harness = SessionHarness(text("One."))
    async with await harness.open() as runner:
        if title:
            await harness.send(runner, Submit(title))
            await harness.until_done()
    copy = await fork_session(harness.log, harness.session)
    assert (await harness.log.info(copy)).title == fold(copy, await harness.log.read(copy)).title == forked


class FullLog(MemoryLog):
    full = False

    def append(self, fence, envelopes):  # pyright: ignore
        if self.full:
            refused = asyncio.get_running_loop().create_future()
            refused.set_exception(LogUnavailable("the disk is full"))
            return refused
        return super().append(fence, envelopes)  # pyright: ignore


@pytest.mark.spec("J2")
async def test_when_the_log_cannot_be_written_nothing_more_happens_and_the_reason_is_known():
    log = FullLog()
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."), log=log)
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (waiting,) = await harness.until_waiting(runner)
    log.full = True
    await runner.send(Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest))
    await harness.until(lambda: runner.failure is not None)
    assert str(runner.failure) == "the disk is full"
    await runner.close()
    assert harness.world.effects == []
    log.full = False
    harness.events.clear()
    async with await harness.open() as runner:
        await harness.until_done()
    assert harness.world.effects == ["x"], "the answer was durable in the inbox, and is taken now"


class AwayLog(MemoryLog):
    """Cannot be read for a while, or ever again."""

    away = 0

    async def inbox(self, session: str) -> list[Inboxed]:
        if self.away:
            self.away -= 1
            raise LogUnavailable("the database is away")
        return await super().inbox(session)


@pytest.mark.spec("J1")
async def test_an_answer_is_taken_even_if_the_log_could_not_be_read_when_it_came():
    log = AwayLog()
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."), log=log)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        (waiting,) = await harness.until_waiting(runner)
        log.away = 5
        await runner.send(Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest))
        await harness.until_done()
    assert harness.world.effects == ["x"]


@pytest.mark.spec("J1")
async def test_a_session_that_can_no_longer_read_its_inbox_has_failed_and_is_not_taken_for_open():
    log = AwayLog()
    harness = SessionHarness(calls(call("run_note", "a", text="x")), text("Done."), log=log)
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    (waiting,) = await harness.until_waiting(runner)
    log.away = 1_000
    await runner.send(Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest))
    await harness.until(lambda: runner.failure is not None)
    assert str(runner.failure) == "the database is away"
    await runner.close()


class DyingLog(FullLog):
    """Nothing is written any more once an answer is."""

    def append(self, fence, envelopes):  # pyright: ignore
        done = super().append(fence, envelopes)  # pyright: ignore
        self.full = self.full or any(isinstance(envelope.event, ApprovalAnswered) for envelope in envelopes)  # pyright: ignore
        return done


@pytest.mark.spec("J2")
@pytest.mark.parametrize("outcome", ["proceed_once", "proceed_always", "cancel"])
async def test_an_answer_after_which_the_process_died_counts_once_and_does_not_stay_in_the_inbox(outcome: Outcome):
    log = DyingLog()
    harness = SessionHarness(
        calls(call("run_note", "a", text="x"), call("run_note", "b", text="y")), text("Done."), log=log
    )
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    waiting = await harness.until_waiting(runner, 2)
    await runner.send(Answer(call_id="a", outcome=outcome, digest=waiting[0].approval.digest), "k")
    await harness.until(lambda: log.full)
    await crash(harness, runner)
    log.full = False
    async with await harness.open() as runner:
        await runner.caught_up()
        assert await log.inbox(harness.session) == []
        assert [event.problem for event in await harness.stored(CommandTaken) if event.key == "k"] == [""]
        assert len(await harness.stored(ApprovalAnswered)) == 1
    assert harness.world.effects == []


@pytest.mark.spec("J2")
@pytest.mark.parametrize("broken", ["v = 99", "data = '{}'", "seq = seq + 50"])
async def test_a_session_that_cannot_be_read_is_not_written_to(tmp_path: Path, broken: str):
    log = SqliteLog(tmp_path)
    harness = SessionHarness(text("Hello."), log=log)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
    with closing(sqlite3.connect(tmp_path / "assent.db")) as db, db:
        db.execute(f"UPDATE events SET {broken} WHERE type = 'prompt.submitted'")
    before = await log.info(harness.session)
    for _ in range(2):
        with pytest.raises(LogDamaged):
            await harness.open()
    assert await log.info(harness.session) == before
    assert not await log.is_open(harness.session)
    await log.close()


async def test_what_others_wrote_until_the_session_was_taken_over_is_known():
    class SlowlyTaken(MemoryLog):
        async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
            if opening is not None and opening.client == "test":
                async with await Runner.open(
                    self, session, harness.model, Registry([]), RunOptions(client="other")
                ) as other:
                    await other.send(Rename("theirs", by="bea"))
                    await other.caught_up()
            return await super().acquire(session, opening)

    harness = SessionHarness(text("Hello."), log=SlowlyTaken())
    async with await harness.open() as runner:
        assert runner.state.title == "theirs"
        assert await harness.send(runner, Submit("go")) == ""
        await harness.until_done()


async def test_max_turns_stop_the_loop():
    harness = SessionHarness({"chunks": [call("read_note", text="x")], "repeat": 9})
    async with await harness.open(max_turns=3) as runner:
        await harness.send(runner, Submit("go"))
        assert (await harness.until_done()).status == "max_turns"
    assert len(harness.world.effects) == 3


class SlowEndLog(MemoryLog):
    """Holds the record of a turn's end until the test lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()

    def append(self, fence, envelopes):  # pyright: ignore
        done = super().append(fence, envelopes)  # pyright: ignore
        if not any(isinstance(envelope.event, TurnFinished) for envelope in envelopes):  # pyright: ignore
            return done
        return asyncio.ensure_future(self._later(done))

    async def _later(self, done: "asyncio.Future[None]") -> None:
        await self.released.wait()
        await done


async def test_a_cancel_that_comes_while_a_turn_ends_does_not_hit_the_next_prompt():
    log = SlowEndLog()
    harness = SessionHarness(text("One."), text("Two."), log=log)
    async with await harness.open() as runner:
        await runner.send(Submit("first"))
        await harness.until(lambda: runner._turn_runner._loop._ending)  # pyright: ignore[reportPrivateUsage]
        await harness.send(runner, CancelTurn("too late"))
        log.released.set()
        await harness.until_done()
        await harness.send(runner, Submit("second"))
        assert (await harness.until_done(2)).status == "completed"


async def test_the_queue_is_shown_in_order_and_what_waits_in_it_can_be_taken_back():
    harness = SessionHarness(calls(call("read_note", "a", text="one", door="d")), text("First."), text("Third."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until(lambda: harness.world.running)
        await runner.send(Submit("second", by="ann"), key="two")
        await runner.send(Submit("third", by="ann"), key="three")
        await harness.until(lambda: [queued.text for queued in runner.state.queued] == ["second", "third"])
        assert await harness.send(runner, Withdraw("two", by="ann")) == ""
        assert [queued.text for queued in runner.state.queued] == ["third"]
        assert await harness.send(runner, Withdraw("two", by="ann")) == "it is no longer in the queue"
        harness.world.door("d").set()
        await harness.until_done(2)
        assert runner.state.queued == ()
    assert [event.text for event in harness.recorded(PromptSubmitted)] == ["first", "third"]


async def test_a_prompt_and_its_withdrawal_that_come_together_leave_nothing():
    harness = SessionHarness(calls(call("read_note", "a", text="one", door="d")), text("First."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("first"))
        await harness.until(lambda: harness.world.running)
        await harness.log.put(harness.session, "two", Submit("second"))
        assert await harness.send(runner, Withdraw("two")) == ""
        harness.world.door("d").set()
        await harness.until_done()
    assert await harness.log.inbox(harness.session) == []


async def test_what_a_person_runs_while_busy_waits_in_the_inbox_and_survives_closing():
    harness = SessionHarness(calls(call("run_note", "a", text="one")), text("First."))
    runner = await harness.open()
    await harness.send(runner, Submit("first"))
    await harness.until_waiting(runner)
    await runner.send(RunTool("run_note", {"text": "mine"}, by="ann"))
    await harness.until(lambda: runner.state.queued)
    (queued,) = runner.state.queued
    assert (queued.tool, queued.text) == ("run_note", "run_note"), "not its arguments as code"
    await runner.close()
    async with await harness.open() as again:
        await harness.answer(again, "a")
        await harness.until(lambda: "mine" in harness.world.effects)


async def test_another_model_answers_from_the_next_request_on_and_stays_after_reopening():
    harness = SessionHarness(text("One."))
    other = ScriptedModel(SessionHarness(text("Two.")).scenario)
    async with await harness.open(open_model=lambda name: other) as runner:
        assert await harness.send(runner, SetModel("other", by="ann")) == ""
        await harness.send(runner, Submit("hi"))
        await harness.until_done()
    assert harness.model.requests == [] and len(other.requests) == 1
    assert (await harness.log.sessions())[0].model == "other"


async def test_a_model_that_cannot_be_opened_is_refused_and_the_old_one_goes_on():
    def no_such_model(name: str) -> ScriptedModel:
        raise BadRequest(f"there is no model {name}")

    harness = SessionHarness(text("One."))
    async with await harness.open(open_model=no_such_model) as runner:
        assert await harness.send(runner, SetModel("other")) == "there is no model other"
        await harness.send(runner, Submit("hi"))
        assert (await harness.until_done()).status == "completed"


async def test_a_session_is_called_by_its_first_prompt_until_a_person_names_it():
    harness = SessionHarness(text("One."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("fix   the\nbug"))
        await harness.until_done()
        assert (await harness.log.sessions())[0].title == runner.state.title == "fix the bug"
        assert await harness.send(runner, Rename("  ")) != ""
        await harness.send(runner, Rename("The bug", by="ann"))
        assert (await harness.log.sessions())[0].title == runner.state.title == "The bug"


async def test_a_call_gives_way_to_what_is_more_urgent_before_it_runs():
    harness = SessionHarness(calls(call("read_note", "c1", text="x")), text("Done."))
    asked, urgent = asyncio.Event(), asyncio.Event()

    async def give_way() -> None:
        asked.set()
        await urgent.wait()

    harness.options["give_way"] = give_way
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await asked.wait()
        assert await harness.stored(CallStarted) == []
        urgent.set()
        assert (await harness.until_done()).status == "completed"


async def test_a_session_that_was_closed_is_gone_at_once_and_leaves_no_garbage():
    """A server opens and parks many; looking for garbage in circles would stop it."""
    harness = SessionHarness(calls(call("run_note", "a", text="x")))
    gc.collect()
    gc.disable()
    try:
        harness.options["background"] = BackgroundCommands()
        runner = await harness.open()
        await harness.send(runner, Submit("go"))
        await harness.until_waiting(runner)
        made = (runner, runner._turn_runner, runner._scheduler, runner._policy(), runner._background, runner._journal)  # pyright: ignore
        parts = [weakref.ref(part) for part in made]
        await runner.close()
        del runner, made
        await harness.until(lambda: not any(part() for part in parts))
    finally:
        gc.enable()


class SlowToStart(ReadNote):
    name = "slow_to_start"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.prepared = asyncio.Event()

    def prepare(self) -> None:
        self.prepared.set()


async def test_tools_get_ready_while_the_model_thinks():
    harness = SessionHarness({"chunks": [{"pause_ms": 600_000}, {"text": "At last."}]})
    tool = SlowToStart(harness.world)
    harness.tools.append(tool)
    async with await harness.open() as runner, asyncio.timeout(WAIT_LIMIT):
        await harness.send(runner, Submit("hi"))
        await tool.prepared.wait()
        await harness.send(runner, CancelTurn())
        assert (await harness.until_done()).status == "cancelled"
