"""What is sent during a turn: it waits, can be held back, and can be read by the model in the middle. Rows G4, F2."""

import pytest

from assent.commands import CancelTurn, ReleaseQueue, Submit, Withdraw
from assent.events import PromptSubmitted, QueueHeld, TurnFinished
from assent.parts import Text, UserMessage
from assent.session.fork import fork_session
from assent.session.runner import Runner
from assent.session.state import fold
from support.session_harness import SessionHarness, call, calls, crash, text

ASKS = calls(call("run_note", "a", text="x"))


async def busy(harness: SessionHarness) -> Runner:
    """A session whose turn waits for a person."""
    runner = await harness.open()
    await harness.send(runner, Submit("go"))
    await harness.until_waiting(runner)
    return runner


async def queue(harness: SessionHarness, runner: Runner, *prompts: str, steer: bool = False) -> None:
    before = len(runner.state.queued)
    for prompt in prompts:
        await runner.send(Submit(prompt, steer=steer), key=prompt)
    await harness.until(lambda: len(runner.state.queued) == before + len(prompts))


def said(harness: SessionHarness) -> list[str]:
    return [event.text for event in harness.recorded(PromptSubmitted)]


@pytest.mark.spec("G4")
async def test_a_held_queue_waits_until_it_is_released():
    harness = SessionHarness(ASKS, text("B."), text("C."), text("D."))
    async with await busy(harness) as runner:
        await queue(harness, runner, "b", "c")
        assert await harness.send(runner, CancelTurn(hold=True)) == ""
        await harness.until_done()
        await harness.send(runner, Submit("first this"))  # what is sent now is not held
        await harness.until_done(2)
        assert said(harness) == ["go", "first this"]
        assert [(queued.text, queued.held) for queued in runner.state.queued] == [("b", True), ("c", True)]
        await harness.send(runner, ReleaseQueue())
        await harness.until_done(4)
        assert said(harness) == ["go", "first this", "b", "c"]
        assert not runner.state.held and not runner.state.queued


async def test_without_hold_the_next_prompt_follows_a_cancelled_turn():
    harness = SessionHarness(ASKS, text("B."))
    async with await busy(harness) as runner:
        await queue(harness, runner, "b")
        await harness.send(runner, CancelTurn())
        await harness.until_done(2)
    assert said(harness) == ["go", "b"]


@pytest.mark.spec("G4")
async def test_a_held_queue_survives_a_crash_and_can_be_withdrawn():
    harness = SessionHarness(ASKS, text("B."))
    runner = await busy(harness)
    await queue(harness, runner, "b", "c")
    await harness.send(runner, CancelTurn(hold=True))
    await harness.until_done()
    await crash(harness, runner)
    async with await harness.open() as runner:
        await harness.until(lambda: len(runner.state.queued) == 2)
        assert await harness.send(runner, Withdraw("c")) == ""
        assert said(harness) == [] and runner.state.held == {"b"}
        await harness.send(runner, ReleaseQueue())
        await harness.until_done()
    assert said(harness) == ["b"]


@pytest.mark.spec("G4")
async def test_whoever_sees_the_queue_may_have_what_was_left_in_it_held():
    harness = SessionHarness(ASKS, text("A."), text("B."))
    runner = await busy(harness)
    await queue(harness, runner, "b")
    await crash(harness, runner)
    harness.options = {"holds_queue": True}
    async with await harness.open() as runner:
        await harness.answer(runner, (await harness.until_waiting(runner))[0].request.call_id)
        await harness.until_done()  # the unfinished turn continues
        await harness.until(lambda: [(queued.text, queued.held) for queued in runner.state.queued] == [("b", True)])
        assert said(harness) == []
        await harness.send(runner, ReleaseQueue())
        await harness.until_done(2)
    assert said(harness) == ["b"]


@pytest.mark.spec("G4")
async def test_what_is_left_in_the_queue_is_held_once_and_new_messages_are_not():
    harness = SessionHarness(ASKS, text("New."))
    runner = await busy(harness)
    await queue(harness, runner, "b")
    await harness.send(runner, CancelTurn(hold=True))
    await harness.until_done()
    await runner.close()
    harness.options = {"holds_queue": True}
    async with await harness.open() as runner:
        await harness.send(runner, Submit("new"))
        await harness.until_done()
        assert said(harness) == ["go", "new"]
    assert len([one for one in await harness.log.read(harness.session) if isinstance(one.event, QueueHeld)]) == 1


async def test_without_anyone_who_sees_it_the_queue_goes_on_when_the_session_is_opened_again():
    harness = SessionHarness(ASKS, text("A."), text("B."))
    runner = await busy(harness)
    await queue(harness, runner, "b")
    await runner.close()
    async with await harness.open() as runner:
        await harness.answer(runner, (await harness.until_waiting(runner))[0].request.call_id)
        await harness.until_done(2)
    assert said(harness) == ["go", "b"]


async def test_a_fork_has_nothing_in_its_queue():
    harness = SessionHarness(ASKS)
    async with await busy(harness) as runner:
        await queue(harness, runner, "b")
        await harness.send(runner, CancelTurn(hold=True))
        await harness.until_done()
    copy = await fork_session(harness.log, harness.session)
    assert not fold(copy, await harness.log.read(copy)).held, "it would never rest in a server"


@pytest.mark.spec("F2", "G4")
async def test_the_model_reads_a_steering_prompt_before_its_next_request():
    harness = SessionHarness(ASKS, text("As you wish."))
    async with await busy(harness) as runner:
        await queue(harness, runner, "only the tests", steer=True)
        assert [queued.steer for queued in runner.state.queued] == [True]
        await harness.answer(runner, "a")
        assert (await harness.until_done()).status == "completed"
        assert not runner.state.queued and runner.state.prompts == 1
    last = harness.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage) and last.parts == (Text("only the tests"),)
    submitted = harness.recorded(PromptSubmitted)
    assert submitted[0].prompt_id == submitted[1].prompt_id
    assert await harness.log.inbox(harness.session) == []


async def test_a_steering_prompt_that_comes_too_late_is_the_next_prompt():
    harness = SessionHarness(ASKS, text("Next."))
    async with await busy(harness) as runner:
        await queue(harness, runner, "and now?", steer=True)
        await harness.send(runner, CancelTurn())
        await harness.until_done(2)
    submitted = harness.recorded(PromptSubmitted)
    assert [event.text for event in submitted] == ["go", "and now?"]
    assert submitted[0].prompt_id != submitted[1].prompt_id


async def test_a_steering_prompt_is_withdrawn_like_any_other():
    harness = SessionHarness(ASKS, text("Done."))
    async with await busy(harness) as runner:
        await queue(harness, runner, "not so fast", steer=True)
        assert await harness.send(runner, Withdraw("not so fast")) == ""
        await harness.answer(runner, "a")
        await harness.until_done()
    assert said(harness) == ["go"]


async def test_a_steering_prompt_survives_a_crash():
    harness = SessionHarness(ASKS, text("As you wish."))
    runner = await busy(harness)
    await queue(harness, runner, "only the tests", steer=True)
    await crash(harness, runner)
    async with await harness.open() as runner:
        await harness.until_waiting(runner)
        await harness.until(lambda: runner.state.queued)
        await harness.answer(runner, "a")
        await harness.until_event(TurnFinished)
    assert said(harness) == ["only the tests"]
