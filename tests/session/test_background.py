"""The background commands of a session are recorded: their start, their end, and what a crash did to them."""

from collections.abc import Callable

import pytest

from assent.commands import KeepBackground, StopBackground
from assent.events import BackgroundEnded, BackgroundKept, BackgroundStarted
from assent.scheduler.digest import run_mark
from assent.session.background_recorder import BackgroundCommand
from assent.session.runner import Runner
from support.session_harness import SessionHarness, crash

pytestmark = pytest.mark.spec("D6")


class Port:
    """Runs nothing; remembers what it is asked."""

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.ended_marks: list[str] = []
        self.survivors: tuple[int, ...] = ()
        self.kept: list[str] = []
        self.found = ""
        self.recalled: list[tuple[str, str]] = []

    @property
    def running(self) -> bool:
        return bool(self.alive)

    def listen(self, started: Callable[[str, str, int], None], ended: Callable[[str, str], None]) -> None:
        self._started, self._ended = started, ended

    def start(self, call_id: str) -> None:
        self.alive.add(call_id)
        self._started(call_id, "npm run dev", 77)

    async def stop(self, call_id: str) -> bool:
        if call_id not in self.alive:
            return False
        self.alive.discard(call_id)
        self._ended(call_id, "stopped")
        return True

    def keep(self, call_id: str) -> str | None:
        if self.found:
            raise OSError(self.found)
        self.kept += [call_id] if call_id in self.alive else []
        return "/outputs/c1.txt" if call_id in self.alive else None

    def recall(self, call_id: str, command: str, pid: int, outcome: str, path: str) -> None:
        self.recalled.append((call_id, outcome))

    async def find_kept(self, call_id: str, command: str, pid: int, started_at: float, path: str) -> str:
        assert (command, pid, path) == ("npm run dev", 77, "/outputs/c1.txt")
        if not self.found:
            self.alive.add(call_id)
        return self.found

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        self.ended_marks.append(mark)
        return self.survivors

    async def close(self) -> None:
        for call_id in sorted(self.alive - {*self.kept}):
            await self.stop(call_id)


async def opened(harness: SessionHarness, port: Port) -> Runner:
    harness.options["background"] = port
    return await harness.open()


def commands(runner: Runner) -> list[tuple[str, str]]:
    return [(one.call_id, one.outcome) for one in runner.state.background.values()]


async def test_a_command_is_recorded_and_a_person_can_stop_it() -> None:
    harness, port = SessionHarness(), Port()
    async with await opened(harness, port) as runner:
        port.start("c1")
        await harness.until_event(BackgroundStarted)
        assert isinstance(runner.state.background["c1"], BackgroundCommand)
        assert commands(runner) == [("c1", "")]
        assert not runner.resting, "a server must not park it"
        await harness.send(runner, StopBackground("c1", by="ann"))
        assert commands(runner) == [("c1", "stopped")]
        await harness.until(lambda: runner.resting)
        assert "no longer" in await harness.send(runner, StopBackground("c1", by="ann"))


async def test_commands_end_with_the_session_and_that_is_recorded() -> None:
    harness, port = SessionHarness(), Port()
    async with await opened(harness, port) as runner:
        port.start("c1")
        await harness.until_event(BackgroundStarted)
        assert runner.session
    assert [(event.call_id, event.outcome) for event in await harness.stored(BackgroundEnded)] == [("c1", "stopped")]


@pytest.mark.parametrize("survivors", [(), (77,)])
async def test_after_a_crash_the_outcome_is_known_before_anything_else_happens(survivors: tuple[int, ...]) -> None:
    harness, port = SessionHarness(), Port()
    runner = await opened(harness, port)
    port.start("c1")
    await harness.until_event(BackgroundStarted)
    await crash(harness, runner)
    again = Port()
    again.survivors = survivors
    async with await opened(harness, again) as runner:
        assert again.ended_marks == [run_mark(runner.session, "c1")]
        ((_, outcome),) = commands(runner)
        assert outcome.startswith("interrupted") and ("77" in outcome) == bool(survivors)


async def kept(harness: SessionHarness) -> None:
    """A session that ended while a command was kept."""
    port = Port()
    async with await opened(harness, port) as runner:
        port.start("c1")
        await harness.until_event(BackgroundStarted)
        assert not await harness.send(runner, KeepBackground("c1", by="ann"))
        one = runner.state.background["c1"]
        assert (one.kept, one.kept_by, one.output) == (True, "ann", "/outputs/c1.txt")


async def test_a_person_keeps_a_command_and_it_does_not_end_with_the_session() -> None:
    harness = SessionHarness()
    await kept(harness)
    (event,) = await harness.stored(BackgroundKept)
    assert (event.call_id, event.path, event.by) == ("c1", "/outputs/c1.txt", "ann")
    assert not await harness.stored(BackgroundEnded)


async def test_a_kept_command_is_not_ended_as_a_left_over_but_listed_and_stopped() -> None:
    harness, again = SessionHarness(), Port()
    await kept(harness)
    async with await opened(harness, again) as runner:
        assert again.ended_marks == [] and commands(runner) == [("c1", "")]
        assert runner.state.background["c1"].kept
        assert not await harness.send(runner, StopBackground("c1", by="ann"))
        assert commands(runner) == [("c1", "stopped")]


async def test_a_kept_command_that_ended_meanwhile_is_recorded_as_ended() -> None:
    harness, again = SessionHarness(), Port()
    again.found = "exit 3"
    await kept(harness)
    async with await opened(harness, again) as runner:
        assert commands(runner) == [("c1", "exit 3")]


async def test_who_cannot_look_for_a_kept_command_says_nothing_about_it() -> None:
    harness = SessionHarness()
    await kept(harness)
    harness.options["background"] = None
    async with await harness.open() as runner:
        assert commands(runner) == [("c1", "")]


async def test_a_command_that_cannot_be_kept_is_refused_with_the_reason() -> None:
    harness, port = SessionHarness(), Port()
    async with await opened(harness, port) as runner:
        assert "no longer" in await harness.send(runner, KeepBackground("c1", by="ann"))
        port.start("c1")
        port.found = "the disk is full"
        assert "the disk is full" in await harness.send(runner, KeepBackground("c1", by="ann"))
    assert not await harness.stored(BackgroundKept)
