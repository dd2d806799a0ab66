"""What a prompt names is part of the session: recorded once, told to the model, the same after everything. Row F11."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from assent.agent.user_prompt import ATTACHED, END, LEFT_OUT
from assent.commands import CancelTurn, RunTool, Submit, Withdraw
from assent.events import Attached, CommandTaken, Envelope, PromptSubmitted, TurnFinished
from assent.parts import Media, Text, UserMessage
from assent.policy.policy import Policy
from assent.session.fork import fork_session
from assent.session.log import Fence
from assent.session.memory_log import MemoryLog
from assent.session.state import fold
from support.session_harness import SessionHarness, call, calls, crash, text

NOTE = Attached("a.py", "1 line", (Text("--- a.py ---\nbody"),))
PICTURE = Attached("p.png", "image/png", (Text("--- p.png ---"), Media("image/png", "AAAA")))
SECRET = Attached(".env", problem="usually holds secrets")
TOLD = UserMessage(
    (
        Text("see @a.py @p.png @.env"),
        Text(ATTACHED),
        *NOTE.parts,
        *PICTURE.parts,
        Text(END),
        Text(f"{LEFT_OUT}\n- .env: usually holds secrets"),
    )
)


class FakeLoader:
    """Answers at once, or when the door is opened."""

    def __init__(self, *attached: Attached, closed: bool = False) -> None:
        self.asked: list[str] = []
        self.door = asyncio.Event()
        self._attached = attached
        if not closed:
            self.door.set()

    def load(self, text: str, policy: Callable[[], Policy]) -> Awaitable[tuple[Attached, ...]] | None:
        assert isinstance(policy(), Policy)
        return self._read(text) if "@" in text else None

    async def _read(self, text: str) -> tuple[Attached, ...]:
        self.asked.append(text)
        await self.door.wait()
        return self._attached


def harness_with(loader: FakeLoader, *replies: dict[str, object]) -> SessionHarness:
    harness = SessionHarness(*replies)
    harness.options["load_mentions"] = loader.load
    return harness


@pytest.mark.spec("G1")
async def test_the_model_gets_what_a_prompt_names_behind_the_prompt():
    harness = harness_with(FakeLoader(NOTE, PICTURE, SECRET), text("Seen."), text("Yes."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("see @a.py @p.png @.env", by="ann"))
        await harness.until_done()
        await harness.send(runner, Submit("and?"))
        await harness.until_done(2)
    assert harness.model.requests[0].messages == (TOLD,)
    assert harness.model.requests[1].messages[0] == TOLD
    assert harness.model.requests[1].messages[-1] == UserMessage((Text("and?"),))
    assert harness.recorded(PromptSubmitted)[0].attached == (NOTE, PICTURE, SECRET)


@pytest.mark.spec("F11")
async def test_it_is_the_same_after_a_resume_and_in_a_fork_and_nothing_is_read_again():
    loader = FakeLoader(NOTE, PICTURE, SECRET)
    harness = harness_with(loader, text("Seen."), text("Yes."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("see @a.py @p.png @.env"))
        await harness.until_done()
    fork = await fork_session(harness.log, harness.session)
    for session in (harness.session, fork):
        assert fold(session, await harness.log.read(session)).history()[0] == TOLD
    async with await harness.open() as runner:
        await harness.send(runner, Submit("and?"))
        await harness.until_done(2)
    assert harness.model.requests[0].messages[0] == TOLD
    assert len(loader.asked) == 1


async def test_when_only_something_was_left_out_the_model_is_told_that_alone():
    harness = harness_with(FakeLoader(SECRET), text("I see."))
    async with await harness.open() as runner:
        await harness.send(runner, Submit("see @.env"))
        await harness.until_done()
    (message,) = harness.model.requests[0].messages
    assert message == UserMessage((Text("see @.env"), Text(f"{LEFT_OUT}\n- .env: usually holds secrets")))


async def test_while_it_is_read_the_session_hears_everything_else():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("Seen."), text("Second."))
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"), key="first")
        await harness.until(lambda: loader.asked)
        second = await runner.send(Submit("and then?"))
        await harness.until(lambda: [queued.key for queued in runner.state.queued] == ["first", second])
        assert harness.recorded(PromptSubmitted) == []
        assert not runner.resting
        loader.door.set()
        await harness.until_done(2)
    assert [(event.text, event.attached) for event in harness.recorded(PromptSubmitted)] == [
        ("see @a.py", (NOTE,)),
        ("and then?", ()),
    ]


async def test_cancelled_while_it_is_read_a_prompt_ends_without_asking_the_model():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("never"), text("never"))
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"))
        await harness.until(lambda: loader.asked)
        assert await harness.send(runner, CancelTurn("enough")) == ""
        assert (await harness.until_done()).status == "cancelled"
        assert harness.recorded(PromptSubmitted)[0].attached == ()
        assert harness.model.requests == []
        await harness.until(lambda: runner.idle)


async def test_taken_back_while_it_is_read_a_prompt_leaves_nothing():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("Second."))
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"), key="first")
        await harness.until(lambda: loader.asked)
        assert await harness.send(runner, Withdraw("first")) == ""
        await harness.until(lambda: runner.idle)
        await harness.send(runner, Submit("and then?"))
        await harness.until_done()
    assert [event.text for event in harness.recorded(PromptSubmitted)] == ["and then?"]
    assert await harness.log.inbox(harness.session) == []


class Stubborn(FakeLoader):
    """Goes on reading for a while when it shall stop."""

    def __init__(self) -> None:
        super().__init__(closed=True)
        self.told = False

    async def _read(self, text: str) -> tuple[Attached, ...]:
        try:
            return await super()._read(text)
        except asyncio.CancelledError:
            self.told = True
            await self.door.wait()
            raise


async def test_cancelled_and_taken_back_at_once_a_prompt_leaves_the_next_one_alone():
    loader = Stubborn()
    harness = harness_with(loader, text("Second."))
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"), key="first")
        await harness.until(lambda: loader.asked)
        assert await harness.send(runner, CancelTurn()) == ""
        await harness.until(lambda: loader.told)
        assert await harness.send(runner, Withdraw("first")) == ""
        loader.door.set()
        await harness.until(lambda: runner.idle)
        await harness.send(runner, Submit("and then?"))
        assert (await harness.until_done()).status == "completed"


class SlowLog(MemoryLog):
    """Writes in order, and only while its door is open."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()
        self.door.set()
        self.asked = 0
        self._line = asyncio.Lock()

    def append(self, fence: Fence, envelopes: Sequence[Envelope]) -> "asyncio.Future[None]":
        self.asked += 1
        return asyncio.ensure_future(self._append(fence, envelopes))

    async def _append(self, fence: Fence, envelopes: Sequence[Envelope]) -> None:
        async with self._line:
            await self.door.wait()
            await super().append(fence, envelopes)


async def test_what_is_on_its_way_into_the_log_can_not_be_taken_back():
    loader, log = FakeLoader(NOTE, closed=True), SlowLog()
    harness = SessionHarness(text("Seen."), log=log)
    harness.options["load_mentions"] = loader.load
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"), key="first")
        await harness.until(lambda: loader.asked)
        before = log.asked
        log.door.clear()
        loader.door.set()
        await harness.until(lambda: log.asked == before + 1)
        await runner.send(Withdraw("first"), key="back")
        await harness.until(lambda: log.asked == before + 2)
        log.door.set()
        assert (await harness.until_done()).status == "completed"
    assert {event.key: event.problem for event in harness.recorded(CommandTaken)} == {
        "first": "",
        "back": "it is no longer in the queue",
    }
    assert [event.attached for event in harness.recorded(PromptSubmitted)] == [(NOTE,)]


async def test_a_prompt_whose_reading_takes_long_is_shown_among_those_that_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assent.session.turn_runner.SHOW_QUEUED_AFTER", 0)
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("Seen."))
    async with await harness.open() as runner:
        await runner.send(Submit("see @a.py"))
        await harness.until(lambda: [queued.text for queued in runner.state.queued] == ["see @a.py"])
        loader.door.set()
        await harness.until_done()
        assert runner.state.queued == ()


async def test_a_prompt_and_a_cancel_that_come_together_end_it_as_well():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("never"))
    async with await harness.open() as runner:
        await asyncio.gather(runner.send(Submit("see @a.py")), runner.send(CancelTurn()))
        assert (await harness.until_done()).status == "cancelled"
    assert harness.model.requests == []


async def test_closed_while_it_is_read_a_prompt_stays_in_the_inbox_for_the_next_time():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, calls(call("read_note", "a", text="x", door="never")), text("Seen."))
    async with await harness.open() as runner:
        await harness.send(runner, RunTool("read_note", {"text": "x", "door": "d"}))
        await harness.until(lambda: harness.world.running)
        await runner.send(Submit("see @a.py"))
        harness.world.door("d").set()
        await harness.until(lambda: loader.asked)
    assert await harness.stored(PromptSubmitted) == []
    assert [item.command for item in await harness.log.inbox(harness.session)] == [Submit("see @a.py")]
    loader.door.set()
    harness.world.door("never").set()
    async with await harness.open() as runner:
        await runner.caught_up()
        assert runner.state.prompts == 1
        await harness.until_done()
    assert len(await harness.stored(PromptSubmitted)) == 1


async def test_after_a_crash_while_it_is_read_the_prompt_is_taken_once():
    loader = FakeLoader(NOTE, closed=True)
    harness = harness_with(loader, text("Seen."))
    runner = await harness.open()
    await runner.send(Submit("see @a.py"))
    await harness.until(lambda: loader.asked)
    await crash(harness, runner)
    harness.options["load_mentions"] = FakeLoader(NOTE).load
    async with await harness.open():
        await harness.until_done()
    assert [event.attached for event in await harness.stored(PromptSubmitted)] == [(NOTE,)]


async def test_whatever_goes_wrong_with_what_it_names_the_prompt_is_not_lost():
    async def fails() -> tuple[Attached, ...]:
        raise OSError("the disk is on fire")

    harness = SessionHarness(text("Seen."))
    harness.options["load_mentions"] = lambda text, policy: fails()  # pyright: ignore
    async with await harness.open() as runner:
        await harness.send(runner, Submit("see @a.py"))
        assert (await harness.until_done()).status == "completed"
    (prompt,) = harness.recorded(PromptSubmitted)
    assert prompt.attached[0].problem == "OSError: the disk is on fire"


async def test_what_comes_along_counts_for_the_size_of_the_conversation():
    long = Attached("a.py", "1 line", (Text("x" * 40_000),))
    harness = harness_with(FakeLoader(long), text("Seen."))
    async with await harness.open() as runner:
        before = runner.state.conversation.tokens
        await harness.send(runner, Submit("see @a.py"))
        await harness.until(lambda: harness.recorded(PromptSubmitted))
        assert runner.state.conversation.tokens - before > 10_000
        await harness.until_done()
    assert harness.recorded(CommandTaken) and harness.recorded(TurnFinished)
