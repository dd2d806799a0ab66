"""A call that an earlier process was running: what is left of it is ended before the call is."""

import asyncio

import pytest

from assent.approval import Decision
from assent.events import CallRequest
from assent.policy.policy import Policy
from assent.scheduler.call import Executing, Failed
from assent.scheduler.digest import run_mark
from assent.scheduler.scheduler import Scheduler
from assent.tools.registry import Registry
from assent.tools.tool import Invocation, Live, Permit, Tool, ToolResult
from support.doubles import ListJournal, NoteParams


class Leaving(Invocation):
    """One whose earlier run left something."""

    def __init__(self, tool: "LeavingTool") -> None:
        self._tool = tool

    def describe(self) -> str:
        return "leaves something"

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        raise AssertionError("it was not to be run again")

    async def end_leftovers(self, mark: str) -> tuple[int, ...]:
        self._tool.asked.append(mark)
        await self._tool.gone.wait()
        return self._tool.survivors


class LeavingTool(Tool[NoteParams]):
    name = "leaving"
    display_name = "Leaving"
    description = "leaves something"
    kind = "execute"
    params = NoteParams

    def __init__(self, *survivors: int) -> None:
        self.survivors = survivors
        self.asked: list[str] = []
        self.gone = asyncio.Event()

    def invocation(self, params: NoteParams) -> Invocation:
        return Leaving(self)


def restored(tool: LeavingTool, args: dict[str, object] | None = None) -> tuple[Scheduler, Executing]:
    request = CallRequest(call_id="c1", tool="leaving", args={"text": "x"} if args is None else args, prompt_id="p1")
    call = Executing(request=request, started_at=1.0, decision=Decision(source="mode", reason="it runs"))
    return Scheduler("s1", Registry([tool]), Policy(roots=("/w",)), ListJournal()), call


@pytest.mark.spec("J2")
@pytest.mark.parametrize("survivors", [(), (123, 124)])
async def test_the_call_ends_after_its_processes_and_names_those_that_did_not(survivors: tuple[int, ...]):
    tool = LeavingTool(*survivors)
    scheduler, call = restored(tool)
    results = asyncio.create_task(scheduler.restore([call]).results())
    while not tool.asked:  # noqa: ASYNC110  (one turn of the loop after the other)
        await asyncio.sleep(0)
    assert not results.done()
    tool.gone.set()
    (ended,) = await results
    assert tool.asked == [run_mark("s1", "c1")]
    assert isinstance(ended, Failed) and ended.failure.type == "interrupted"
    assert ("process 123, 124" in ended.failure.message) == bool(survivors)


async def test_closing_meanwhile_does_not_make_the_call_a_cancelled_one():
    tool = LeavingTool()
    scheduler, call = restored(tool)
    results = asyncio.create_task(scheduler.restore([call]).results())
    while not tool.asked:  # noqa: ASYNC110
        await asyncio.sleep(0)
    parking = asyncio.create_task(scheduler.park())
    await asyncio.sleep(0)
    tool.gone.set()
    await parking
    (ended,) = await results
    assert isinstance(ended, Failed)


async def test_a_call_whose_arguments_nobody_understands_any_more_is_unknown_all_the_same():
    tool = LeavingTool()
    scheduler, call = restored(tool, {"other": 1})
    (ended,) = await scheduler.restore([call]).results()
    assert isinstance(ended, Failed) and ended.failure.type == "interrupted"


def test_a_copy_of_a_session_has_other_marks():
    assert run_mark("s1", "c1") != run_mark("s2", "c1")
