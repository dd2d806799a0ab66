"""The questions of one batch come in the order of its calls, however long it takes to find out what can be offered."""

import pytest

from assent.scheduler.call import Terminal
from assent.tools.registry import Registry
from assent.tools.tool import Invocation, Permit
from assent.trial import Trial
from support.doubles import NoteParams, RunNote, World
from support.scheduler_harness import SchedulerHarness, note_tools

pytestmark = pytest.mark.spec("B6")


class _Doubtful:
    """Whether it can be tried becomes known when its door opens."""

    def __init__(self, world: World, door: str) -> None:
        self._world, self._door = world, door

    async def problem(self) -> str:
        await self._world.door(self._door).wait()
        return ""

    async def try_out(self, permit: Permit, live: object) -> None: ...

    def accept(self, chosen: tuple[int, ...] | None) -> None: ...

    async def resume(self, shown: Trial) -> bool:
        return False

    async def discard(self, mark: str = "") -> None: ...


class DoubtfulNote(RunNote):
    name = "doubtful_note"

    def invocation(self, params: NoteParams) -> Invocation:
        found = super().invocation(params)
        found.triable = lambda: _Doubtful(self.world, params.door)  # type: ignore[method-assign]
        return found


@pytest.fixture
def harness() -> SchedulerHarness:
    world = World()
    return SchedulerHarness(world=world, registry=Registry([*note_tools(world), DoubtfulNote(world)]))


async def test_a_later_call_is_asked_about_after_an_earlier_one_that_takes_longer(harness: SchedulerHarness):
    batch = harness.schedule(
        harness.call("doubtful_note", text="one", door="d"),
        harness.call("read_note", text="two"),
        harness.call("run_note", text="three"),
    )
    await harness.settle()
    assert harness.asked() == []
    harness.world.door("d").set()
    await harness.settle()
    assert harness.asked() == ["c1", "c3"]
    for call_id in ("c1", "c3"):
        await harness.answer(call_id)
    assert all(isinstance(call, Terminal) for call in await batch.results())


async def test_an_earlier_question_does_not_wait_for_a_later_one(harness: SchedulerHarness):
    harness.schedule(harness.call("run_note", text="one"), harness.call("doubtful_note", text="two", door="d"))
    await harness.settle()
    assert harness.asked() == ["c1"]
    harness.world.door("d").set()
    await harness.settle()
    assert harness.asked() == ["c1", "c2"]


async def test_a_call_that_is_cancelled_while_it_is_judged_holds_up_no_other(harness: SchedulerHarness):
    harness.schedule(harness.call("doubtful_note", text="one", door="never"), harness.call("run_note", text="two"))
    await harness.settle()
    harness.scheduler.cancel_call("c1", "stop")
    await harness.settle()
    assert harness.asked() == ["c2"]
