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
    TurnFinished,
)
from assent.models.base import BadRequest
from assent.models.scripted import ScriptedModel
from assent.parts import Call, ModelMessage, Result, Text, UserMessage
from assent.scheduler.call import Failed
from assent.session.fork import fork_session
from assent.session.log import Fence, LogDamaged, LogUnavailable, Opening, SessionBusy
from assent.session.memory import MemoryLog
from assent.session.options import Options
from assent.session.runner import Runner
from assent.session.sqlite import SqliteLog
from assent.tools.registry import Registry
from support.doubles import ReadNote, World
from support.house import House, call, calls, crash, text


@pytest.mark.spec("F2")
async def test_results_go_back_to_the_model_until_no_call_is_left():
    house = House(
        calls({"text": "I look."}, call("read_note", "a", text="one"), call("read_note", "b", text="two")),
        calls(call("read_note", "c", text="three")),
        text("Done."),
    )
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "completed"
    assert house.world.effects == ["one", "two", "three"]
    last = house.model.requests[-1].messages
    assert [type(message) for message in last] == [UserMessage, ModelMessage, UserMessage, ModelMessage, UserMessage]
    results = [part for part in last[2].parts if isinstance(part, Result)]
    assert [(result.call_id, result.response) for result in results] == [
        ("a", {"output": "noted one"}),
        ("b", {"output": "noted two"}),
    ]


@pytest.mark.spec("F2")
@pytest.mark.spec("F10")
async def test_every_event_of_a_turn_has_the_same_prompt_id_and_prompts_are_numbered():
    house = House(calls(call("read_note", "a", text="one")), text("Done."), text("Again."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until_done()
        await house.send(runner, Submit("second"))
        await house.until_done(2)
    first = f"{house.session}########0"
    assert [event.prompt_id for event in house.recorded(PromptSubmitted)] == [first, f"{house.session}########1"]
    assert {event.prompt_id for event in house.recorded(ModelReplied)[:2]} == {first}
    assert house.recorded(TurnFinished)[0].prompt_id == first


@pytest.mark.spec("F3")
async def test_when_all_calls_are_cancelled_the_model_is_not_called_but_the_history_has_the_results():
    house = House(calls(call("run_note", "a", text="x")), text("Noted."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
        await house.answer(runner, "a", "cancel")
        assert (await house.until_done()).status == "cancelled"
        assert len(house.model.requests) == 1
        await house.send(runner, Submit("why not?"))
        await house.until_done(2)
    results = [part for part in house.model.requests[1].messages[2].parts if isinstance(part, Result)]
    assert "[Operation Cancelled]" in results[0].response["error"]


@pytest.mark.spec("F3")
async def test_when_only_some_calls_are_cancelled_the_model_goes_on():
    house = House(calls(call("run_note", "a", text="x"), call("read_note", "b", text="y")), text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
        await house.answer(runner, "a", "cancel")
        assert (await house.until_done()).status == "completed"
    assert len(house.model.requests) == 2


@pytest.mark.spec("B11")
async def test_whoever_hears_that_an_always_was_taken_finds_nothing_asked_that_it_covers():
    asking = calls(*(call("run_note", id, text="same") for id in "abc"), call("run_note", "d", text="other"))
    house = House(asking, text("Done."))
    still_waiting: list[list[str]] = []

    def heard(envelope: Envelope) -> None:
        if isinstance(envelope.event, CommandTaken) and runner.waiting():
            still_waiting.append([waiting.request.call_id for waiting in runner.waiting()])

    house.options["listener"] = heard
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner, 4)
        await house.answer(runner, "a", "proceed_always")
        assert still_waiting == [["d"]]
        assert await house.log.inbox(house.session) == []


@pytest.mark.spec("F4")
@pytest.mark.spec("E4")
async def test_what_a_person_runs_stays_with_the_person():
    house = House(text("Hello."))
    async with await house.open() as runner:
        await house.send(runner, RunTool("run_note", {"text": "mine"}, by="ann"))
        await house.until_event(CallFinished)
        await house.send(runner, Submit("hi"))
        await house.until_done()
    assert house.world.effects == ["mine"]
    assert house.model.requests[0].messages == (UserMessage((Text("hi"),)),)


async def test_a_prompt_sent_while_busy_waits_in_the_inbox_and_runs_next():
    house = House(calls(call("read_note", "a", text="one", door="d")), text("First."), text("Second."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until(lambda: house.world.running)
        await runner.send(Submit("second"))
        assert [item.command for item in await house.log.inbox(house.session)] == [Submit("second")]
        house.world.door("d").set()
        await house.until_done(2)
    assert [event.text for event in house.recorded(PromptSubmitted)] == ["first", "second"]


async def test_a_repeated_command_with_the_same_key_is_one_prompt():
    house = House(text("One."), text("Two."))
    async with await house.open() as runner:
        await house.send(runner, Submit("hi"), key="k")
        await house.until_done()
        await runner.send(Submit("hi"), key="k")
        await house.send(runner, SetMode("plan"))
    assert len(house.recorded(PromptSubmitted)) == 1


@pytest.mark.spec("B10")
@pytest.mark.spec("F1")
async def test_cancelling_while_the_model_speaks_keeps_the_text_so_far():
    house = House({"chunks": [{"text": "half a sen"}, {"pause_ms": 10_000_000}, {"text": "tence"}]}, text("ok"))
    async with await house.open() as runner:
        house.model._sleep = lambda _: asyncio.Event().wait()  # pyright: ignore
        await house.send(runner, Submit("go"))
        await house.until_event(TextDelta)
        await house.send(runner, CancelTurn("enough"))
        assert (await house.until_done()).status == "cancelled"
    (reply,) = house.recorded(ModelReplied)
    assert (reply.parts, reply.finish) == ((Text("half a sen"),), "cancelled")


@pytest.mark.spec("B10")
async def test_cancelling_while_tools_run_keeps_what_was_done_for_the_next_prompt():
    house = House(calls(call("read_note", "a", text="x", door="never", print="part")), text("I see."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until(lambda: house.world.running)
        await house.send(runner, CancelTurn("stop it"))
        assert (await house.until_done()).status == "cancelled"
        await house.send(runner, Submit("what happened?"))
        await house.until_done(2)
    results = [part for part in house.model.requests[1].messages[2].parts if isinstance(part, Result)]
    assert results[0].response == {"error": "[Operation Cancelled] Reason: stop it", "output": "part"}


async def test_one_running_call_can_be_cancelled_alone():
    house = House(
        calls(call("read_note", "a", text="x", door="never"), call("read_note", "b", text="y")), text("Done.")
    )
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until(lambda: house.world.running)
        assert await house.send(runner, CancelCall("a")) == ""
        assert await house.send(runner, CancelCall("zzz")) == "no call zzz is under way"
        assert (await house.until_done()).status == "completed"


async def test_cancelling_when_nothing_runs_is_refused_with_a_reason():
    house = House()
    async with await house.open() as runner:
        assert await house.send(runner, CancelTurn()) == "nothing is running that could be cancelled"


@pytest.mark.spec("B10")
async def test_a_turn_that_is_cancelled_before_it_could_begin_ends_as_cancelled():
    house = House(text("never"))
    async with await house.open():
        pass
    await house.log.put(house.session, "first", Submit("go"))
    await house.log.put(house.session, "second", CancelTurn("changed my mind"))
    async with await house.open():
        assert (await house.until_done()).status == "cancelled"


@pytest.mark.spec("C6")
async def test_a_mode_set_by_command_releases_what_waits_and_is_remembered():
    house = House(calls(call("edit_note", "a", path="/w/f", content="x")), text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
        await house.send(runner, SetMode("auto_edit", by="ann"))
        await house.until_done()
    async with await house.open() as again:
        assert again.state.mode == "auto_edit"


@pytest.mark.spec("C10")
async def test_a_late_answer_is_told_who_answered():
    house = House(calls(call("run_note", "a", text="x")), text("Done."))
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
        assert await house.answer(runner, "a", by="ann") == ""
        await house.until_done()
        assert await house.answer(runner, "a", "cancel", by="bob") == "already answered by ann"
    assert house.world.effects == ["x"]


@pytest.mark.spec("J1")
async def test_a_question_survives_a_crash_unchanged_and_its_call_runs_once():
    house = House(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    (before,) = await house.until_waiting(runner)
    await crash(house, runner)
    assert house.world.effects == []

    async with await house.open() as runner:
        (after,) = await house.until_waiting(runner)
        assert after.approval == before.approval
        await house.answer(runner, "a")
        assert (await house.until_done()).status == "completed"
    assert house.world.effects == ["x"]
    assert len(await house.stored(ApprovalRequested)) == 1


@pytest.mark.spec("J1")
async def test_an_answer_given_while_nobody_runs_the_session_counts_when_it_is_opened():
    house = House(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    (waiting,) = await house.until_waiting(runner)
    await crash(house, runner)
    await house.log.put(
        house.session, "k", Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest, by="phone")
    )
    async with await house.open():
        assert (await house.until_done()).status == "completed"
    assert house.world.effects == ["x"]


@pytest.mark.spec("J1")
@pytest.mark.spec("J3")
async def test_a_question_whose_file_changed_while_assent_was_stopped_is_asked_again():
    house = House(calls(call("edit_note", "a", path="/w/f", content="new")), text("Done."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    (before,) = await house.until_waiting(runner)
    await crash(house, runner)
    house.world.files["/w/f"] = "somebody was here"
    async with await house.open() as runner:
        await house.until_event(ApprovalRequested)
        (after,) = runner.waiting()
        assert after.approval.digest != before.approval.digest
        assert "while Assent was stopped" in after.approval.why


@pytest.mark.spec("J2")
async def test_a_call_that_was_running_at_the_crash_is_unknown_and_the_model_is_told():
    house = House(calls(call("read_note", "a", text="x", door="d")), text("I check first."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    await house.until(lambda: house.world.running)
    await crash(house, runner)
    async with await house.open() as runner:
        assert (await house.until_done()).status == "completed"
        finished = runner.state.calls["a"]
    assert house.world.effects == ["x"]
    assert isinstance(finished, Failed) and finished.failure.type == "interrupted"
    (result,) = house.model.requests[0].messages[-1].parts
    assert isinstance(result, Result) and "unknown" in result.response["error"]


@pytest.mark.spec("J2")
async def test_a_call_that_was_approved_but_not_started_is_asked_again():
    house = House(calls(call("run_note", "a", text="x"), call("run_note", "b", text="y")), text("Done."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    await house.until_waiting(runner, 2)
    await house.answer(runner, "a")
    await crash(house, runner)
    async with await house.open() as runner:
        waiting = await house.until_waiting(runner, 2)
        assert "stopped before it started" in waiting[0].approval.why
        assert await house.stored(CallStarted) == []
        await house.answer(runner, "a")
        await house.answer(runner, "b")
        await house.until_done()
    assert sorted(house.world.effects) == ["x", "y"]


@pytest.mark.spec("J2")
async def test_calls_of_a_reply_that_were_never_scheduled_go_on_after_a_crash():
    house = House(calls(call("read_note", "a", text="x")), text("Done."))
    async with await house.open():
        pass
    fence = await house.log.acquire(house.session)
    prompt_id = f"{house.session}########0"
    reply = ModelReplied(
        prompt_id=prompt_id, model="scripted", parts=(Call("a", "read_note", {"text": "x"}),), finish="stop"
    )
    left_behind = (PromptSubmitted(prompt_id, "go", "ann"), reply)
    await house.log.append(fence, [Envelope(n, 1.0, house.session, e) for n, e in enumerate(left_behind, start=3)])
    await house.log.release(fence)
    async with await house.open():
        assert (await house.until_done()).status == "completed"
    assert house.world.effects == ["x"]


async def test_closing_keeps_questions_and_stops_what_runs():
    house = House(calls(call("run_note", "a", text="x"), call("read_note", "b", text="y", door="never")), text("Done."))
    runner = await house.open(gate="eager")
    await house.send(runner, Submit("go"))
    await house.until(lambda: house.world.running)
    await house.until_waiting(runner)
    await runner.close()
    assert house.world.running == 0
    assert [event.call_id for event in await house.stored(CallFinished)] == ["b"]
    assert await house.stored(TurnFinished) == []
    async with await house.open(gate="eager") as runner:
        await house.until_waiting(runner)
        await house.answer(runner, "a")
        assert (await house.until_done()).status == "completed"


async def test_two_runners_on_one_session_the_second_is_refused():
    house = House()
    async with await house.open():
        with pytest.raises(SessionBusy):
            await house.open()


async def test_a_question_in_a_fork_is_asked_anew_and_for_the_same_reason():
    house = House(calls(call("run_note", "a", text="x")), text("Done."))
    runner = await house.open()
    await house.send(runner, Submit("go"))
    (before,) = await house.until_waiting(runner)
    await crash(house, runner)
    house.session = await fork_session(house.log, house.session)
    async with await house.open() as runner:
        await house.until_event(ApprovalRequested)
        (after,) = runner.waiting()
        assert after.approval.digest != before.approval.digest
        assert after.approval.why == before.approval.why


@pytest.mark.spec("F11")
async def test_a_fork_knows_everything_and_goes_its_own_way():
    house = House(text("One."), calls(call("run_note", "a", text="x")), text("Two."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until_done()
        await house.send(runner, Submit("second"))
        (waiting,) = await house.until_waiting(runner)
    original = house.session
    before = await house.log.read(original)
    house.session = await fork_session(house.log, original)
    house.events.clear()
    async with await house.open() as runner:
        await house.until_event(ApprovalRequested)
        (again,) = runner.waiting()
        assert again.approval.digest != waiting.approval.digest, "an answer covers one session only"
        await house.answer(runner, "a")
        await house.until_done()
        assert runner.state.session == house.session
    assert await house.log.read(original) == before


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
    house = House(calls(call("run_note", "a", text="x")), text("Done."), log=log)
    runner = await house.open()
    await house.send(runner, Submit("go"))
    (waiting,) = await house.until_waiting(runner)
    log.full = True
    await runner.send(Answer(call_id="a", outcome="proceed_once", digest=waiting.approval.digest))
    await house.until(lambda: runner.failure is not None)
    assert str(runner.failure) == "the disk is full"
    await runner.close()
    assert house.world.effects == []
    log.full = False
    house.events.clear()
    async with await house.open() as runner:
        await house.until_done()
    assert house.world.effects == ["x"], "the answer was durable in the inbox, and is taken now"


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
    house = House(calls(call("run_note", "a", text="x"), call("run_note", "b", text="y")), text("Done."), log=log)
    runner = await house.open()
    await house.send(runner, Submit("go"))
    waiting = await house.until_waiting(runner, 2)
    await runner.send(Answer(call_id="a", outcome=outcome, digest=waiting[0].approval.digest), "k")
    await house.until(lambda: log.full)
    await crash(house, runner)
    log.full = False
    async with await house.open() as runner:
        await runner.caught_up()
        assert await log.inbox(house.session) == []
        assert [event.problem for event in await house.stored(CommandTaken) if event.key == "k"] == [""]
        assert len(await house.stored(ApprovalAnswered)) == 1
    assert house.world.effects == []


@pytest.mark.spec("J2")
@pytest.mark.parametrize("broken", ["v = 99", "data = '{}'", "seq = seq + 50"])
async def test_a_session_that_cannot_be_read_is_not_written_to(tmp_path: Path, broken: str):
    log = SqliteLog(tmp_path)
    house = House(text("Hello."), log=log)
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await house.until_done()
    with closing(sqlite3.connect(tmp_path / "assent.db")) as db, db:
        db.execute(f"UPDATE events SET {broken} WHERE type = 'prompt.submitted'")
    before = await log.info(house.session)
    for _ in range(2):
        with pytest.raises(LogDamaged):
            await house.open()
    assert await log.info(house.session) == before
    assert not await log.is_open(house.session)
    await log.close()


async def test_what_others_wrote_until_the_session_was_taken_over_is_known():
    class SlowlyTaken(MemoryLog):
        async def acquire(self, session: str, opening: Opening | None = None) -> Fence:
            if opening is not None and opening.client == "test":
                async with await Runner.open(
                    self, session, house.model, Registry([]), Options(client="other")
                ) as other:
                    await other.send(Rename("theirs", by="bea"))
                    await other.caught_up()
            return await super().acquire(session, opening)

    house = House(text("Hello."), log=SlowlyTaken())
    async with await house.open() as runner:
        assert runner.state.title == "theirs"
        assert await house.send(runner, Submit("go")) == ""
        await house.until_done()


async def test_max_turns_stop_the_loop():
    house = House({"chunks": [call("read_note", text="x")], "repeat": 9})
    async with await house.open(max_turns=3) as runner:
        await house.send(runner, Submit("go"))
        assert (await house.until_done()).status == "max_turns"
    assert len(house.world.effects) == 3


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
    house = House(text("One."), text("Two."), log=log)
    async with await house.open() as runner:
        await runner.send(Submit("first"))
        await house.until(lambda: runner._work._loop._ending)  # pyright: ignore[reportPrivateUsage]
        await house.send(runner, CancelTurn("too late"))
        log.released.set()
        await house.until_done()
        await house.send(runner, Submit("second"))
        assert (await house.until_done(2)).status == "completed"


async def test_the_queue_is_shown_in_order_and_what_waits_in_it_can_be_taken_back():
    house = House(calls(call("read_note", "a", text="one", door="d")), text("First."), text("Third."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until(lambda: house.world.running)
        await runner.send(Submit("second", by="ann"), key="two")
        await runner.send(Submit("third", by="ann"), key="three")
        await house.until(lambda: [queued.text for queued in runner.state.queued] == ["second", "third"])
        assert await house.send(runner, Withdraw("two", by="ann")) == ""
        assert [queued.text for queued in runner.state.queued] == ["third"]
        assert await house.send(runner, Withdraw("two", by="ann")) == "it is no longer in the queue"
        house.world.door("d").set()
        await house.until_done(2)
        assert runner.state.queued == ()
    assert [event.text for event in house.recorded(PromptSubmitted)] == ["first", "third"]


async def test_a_prompt_and_its_withdrawal_that_come_together_leave_nothing():
    house = House(calls(call("read_note", "a", text="one", door="d")), text("First."))
    async with await house.open() as runner:
        await house.send(runner, Submit("first"))
        await house.until(lambda: house.world.running)
        await house.log.put(house.session, "two", Submit("second"))
        assert await house.send(runner, Withdraw("two")) == ""
        house.world.door("d").set()
        await house.until_done()
    assert await house.log.inbox(house.session) == []


async def test_what_a_person_runs_while_busy_waits_in_the_inbox_and_survives_closing():
    house = House(calls(call("run_note", "a", text="one")), text("First."))
    runner = await house.open()
    await house.send(runner, Submit("first"))
    await house.until_waiting(runner)
    await runner.send(RunTool("run_note", {"text": "mine"}, by="ann"))
    await house.until(lambda: runner.state.queued)
    assert runner.state.queued[0].tool == "run_note"
    await runner.close()
    async with await house.open() as again:
        await house.answer(again, "a")
        await house.until(lambda: "mine" in house.world.effects)


async def test_another_model_answers_from_the_next_request_on_and_stays_after_reopening():
    house = House(text("One."))
    other = ScriptedModel(House(text("Two.")).scenario)
    async with await house.open(open_model=lambda name: other) as runner:
        assert await house.send(runner, SetModel("other", by="ann")) == ""
        await house.send(runner, Submit("hi"))
        await house.until_done()
    assert house.model.requests == [] and len(other.requests) == 1
    assert (await house.log.sessions())[0].model == "other"


async def test_a_model_that_cannot_be_opened_is_refused_and_the_old_one_goes_on():
    def no_such_model(name: str) -> ScriptedModel:
        raise BadRequest(f"there is no model {name}")

    house = House(text("One."))
    async with await house.open(open_model=no_such_model) as runner:
        assert await house.send(runner, SetModel("other")) == "there is no model other"
        await house.send(runner, Submit("hi"))
        assert (await house.until_done()).status == "completed"


async def test_a_session_is_called_by_its_first_prompt_until_a_person_names_it():
    house = House(text("One."))
    async with await house.open() as runner:
        await house.send(runner, Submit("fix   the\nbug"))
        await house.until_done()
        assert (await house.log.sessions())[0].title == runner.state.title == "fix the bug"
        assert await house.send(runner, Rename("  ")) != ""
        await house.send(runner, Rename("The bug", by="ann"))
        assert (await house.log.sessions())[0].title == runner.state.title == "The bug"


async def test_a_call_gives_way_to_what_is_more_urgent_before_it_runs():
    house = House(calls(call("read_note", "c1", text="x")), text("Done."))
    asked, urgent = asyncio.Event(), asyncio.Event()

    async def give_way() -> None:
        asked.set()
        await urgent.wait()

    house.options["give_way"] = give_way
    async with await house.open() as runner:
        await house.send(runner, Submit("go"))
        await asked.wait()
        assert await house.stored(CallStarted) == []
        urgent.set()
        assert (await house.until_done()).status == "completed"


async def test_a_session_that_was_closed_is_gone_at_once_and_leaves_no_garbage():
    """A server opens and parks many; looking for garbage in circles would stop it."""
    house = House(calls(call("run_note", "a", text="x")))
    gc.collect()
    gc.disable()
    try:
        runner = await house.open()
        await house.send(runner, Submit("go"))
        await house.until_waiting(runner)
        parts = [weakref.ref(part) for part in (runner, runner._work, runner._scheduler, runner._policy)]  # pyright: ignore
        await runner.close()
        del runner
        await house.until(lambda: not any(part() for part in parts))
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
    house = House({"chunks": [{"pause_ms": 600_000}, {"text": "At last."}]})
    tool = SlowToStart(house.world)
    house.tools.append(tool)
    async with await house.open() as runner, asyncio.timeout(20):
        await house.send(runner, Submit("hi"))
        await tool.prepared.wait()
        await house.send(runner, CancelTurn())
        assert (await house.until_done()).status == "cancelled"
