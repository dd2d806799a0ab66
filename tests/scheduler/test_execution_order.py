"""Who waits for whom: places in line, taken in the order of the request."""

import asyncio

import pytest

from assent.events import GateKind
from assent.mcp.definitions import Definition
from assent.mcp.mcp_tool import McpCall, McpTool
from assent.parts import JsonObject
from assent.policy.policy import Policy
from assent.scheduler.execution_order import InOrder
from assent.scheduler.resources import ResourceLine, finish
from assent.tools.registry import Registry
from assent.tools.tool import Invocation, Resources, ToolResult
from support.doubles import NoteParams, RunNote, World
from support.scheduler_harness import SchedulerHarness, note_tools

READ_A, WRITE_A = Resources(reads=("/w/a",)), Resources(writes=("/w/a",))
READ_ALL, WRITE_ALL = Resources(anything="read"), Resources(anything="write")


@pytest.mark.spec("B6")
@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (READ_A, READ_A, False),
        (WRITE_A, READ_A, True),
        (READ_A, WRITE_A, True),
        (WRITE_A, WRITE_A, True),
        (WRITE_A, Resources(writes=("/w/b",)), False),
        (WRITE_A, Resources(reads=("/w",)), True),
        (Resources(reads=("/w/",)), WRITE_A, True),
        (Resources(reads=("/w",)), Resources(writes=("/w/x/y/z",)), True),
        (Resources(reads=("/w/x",)), Resources(writes=("/w/xy",)), False),
        (Resources(writes=("/w/A",)), READ_A, True),
        (Resources(writes=("/w/\u00e9",)), Resources(reads=("/w/e\u0301",)), True),
        (READ_ALL, READ_A, False),
        (READ_ALL, READ_ALL, False),
        (READ_ALL, WRITE_A, True),
        (WRITE_ALL, READ_A, True),
        (WRITE_ALL, READ_ALL, True),
        (WRITE_A, READ_ALL, True),
        (WRITE_ALL, WRITE_ALL, True),
        (WRITE_ALL, Resources(), False),
        (Resources(things=("todos",)), Resources(things=("todos",)), True),
        (Resources(things=("todos",)), WRITE_ALL, False),
    ],
)
async def test_calls_wait_for_earlier_ones_that_touch_the_same(first: Resources, second: Resources, waits: bool):
    line = ResourceLine()
    line.join(first)
    earlier, _ = line.join(second)
    assert bool(earlier) is waits


async def test_who_leaves_before_its_turn_does_not_let_others_pass_those_it_waited_for():
    line = ResourceLine()
    _, first = line.join(WRITE_A)
    waits, second = line.join(WRITE_ALL)
    finish(second, waits)
    third, _ = line.join(READ_A)
    assert second in third
    finish(first, set())
    await asyncio.wait(third)


async def test_a_place_costs_the_same_however_many_are_in_line():
    line = ResourceLine()
    sizes = set[int]()
    for number in range(300):
        earlier, _ = line.join(Resources(writes=(f"/w/{number}",)))
        more, _ = line.join(READ_ALL)
        sizes |= {len(earlier), len(more)}
    assert max(sizes) <= 2


async def test_a_point_is_passed_in_order_whoever_comes_first():
    order, passed = InOrder(4), list[int]()

    async def come(at: int) -> None:
        await order.reach(at)
        passed.append(at)
        order.passed(at)

    order.passed(1)
    await asyncio.gather(*(come(at) for at in (3, 2, 0)))
    assert passed == [0, 2, 3]


class CommandNote(RunNote):
    """A command whose words say what it does, with doors."""

    name = "command_note"

    def invocation(self, params: NoteParams) -> Invocation:
        invocation = super().invocation(params)
        invocation.resources = lambda: Resources(anything="write")
        return invocation


def command_harness(gate: GateKind = "batch") -> SchedulerHarness:
    world = World()
    return SchedulerHarness(
        mode="yolo", gate=gate, world=world, registry=Registry([*note_tools(world), CommandNote(world)])
    )


@pytest.mark.spec("B6")
async def test_commands_that_only_read_run_at_the_same_time_whatever_allows_them():
    harness = command_harness()
    batch = harness.schedule(*(harness.call("command_note", text=f"cat {n}", door="d") for n in range(20)))
    await harness.settle()
    assert harness.world.running == 20
    harness.world.door("d").set()
    await batch.results()


@pytest.mark.spec("B6")
async def test_commands_that_may_write_run_alone_and_in_order():
    harness = command_harness()
    texts = ["cat a", "cat b", "git commit -m x", "cat c", "cat d", "make", "sort a > b"]
    assert await harness.run(*(harness.call("command_note", text=text) for text in texts)) == ["Success"] * 7
    assert harness.world.effects == texts
    assert harness.world.most_running <= 2


@pytest.mark.spec("B6")
@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("cat a", True),
        ("git status && git diff", True),
        ("grep -rn x . | sort | head -3", True),
        ("find . -name '*.py'", True),
        ("git add a", False),
        ("touch a", False),
        ("echo x > a", False),
        ("cat a | tee b", False),
        ("sort -o a a", False),
        ("sed -i s/a/b/ a", False),
        ("git branch", True),
        ("git branch -d old", False),
        ("git branch -m old new", False),
        ("git tag -l", True),
        ("git tag -a v1 -m first", False),
        ("git stash list", True),
        ("git stash drop", False),
        ("git remote add other b", False),
        ("git config user.name ann", False),
        ("find . -delete", False),
        ("python3 x.py", False),
        ("unknown-program", False),
        ("cat 'unfinished", False),
    ],
)
def test_what_is_not_known_to_only_read_may_write(command: str, reads: bool):
    from assent.approval import ExecDetails

    assert (
        Policy(roots=("/w",)).only_reads(
            ExecDetails(command=command, roots=(), directory="/w", risk="low", risk_reason="")
        )
        is reads
    )


@pytest.mark.spec("B6")
async def test_the_eager_gate_keeps_the_order_although_an_earlier_call_is_still_looked_for():
    """A tool that comes late may touch anything: nothing that could depend on it starts before."""
    world, there = World(), asyncio.Event()
    registry = Registry(note_tools(world))

    async def wait(name: str) -> None:
        await there.wait()
        registry.add(CommandNote(world))

    registry.await_with(wait)
    harness = SchedulerHarness(mode="yolo", gate="eager", world=world, registry=registry)
    batch = harness.schedule(
        harness.call("command_note", text="make"), harness.call("run_note", text="later", path="/w/a")
    )
    await harness.settle()
    assert world.effects == []
    there.set()
    await batch.results()
    assert world.effects == ["make", "later"]


class Notes:
    """The server's side of two tools, one of which only reads; each call waits for the door."""

    name, trusted = "notes", False

    def __init__(self, world: World) -> None:
        self._world = world

    def current(self, tool: str) -> Definition | None:
        return Definition(
            name=f"mcp_notes_{tool}",
            tool=tool,
            title="",
            description="",
            schema={"type": "object"},
            read_only=tool == "get",
            digest="digest",
        )

    def unseen(self, definition: Definition) -> str:
        return ""

    def accept(self, *definition: Definition) -> None:
        pass

    def introduced(self) -> str:
        return "A tool of the server notes"

    def command(self, tool: str) -> str:
        return ""

    def touched(self) -> Resources:
        return Resources()

    async def call(self, tool: str, args: JsonObject, call: McpCall) -> ToolResult:
        self._world.running += 1
        self._world.most_running = max(self._world.most_running, self._world.running)
        await self._world.door("d").wait()
        self._world.running -= 1
        self._world.effects.append(f"{tool} {args.get('n')}")
        return ToolResult("done")


def server_context() -> SchedulerHarness:
    world = World()
    owner = Notes(world)
    definitions = [definition for name in ("get", "put") if (definition := owner.current(name))]
    return SchedulerHarness(mode="yolo", world=world, registry=Registry([McpTool(owner, each) for each in definitions]))


@pytest.mark.spec("B6")
async def test_tools_of_a_server_run_one_by_one_and_in_order():
    harness = server_context()
    harness.world.door("d").set()
    await harness.run(*(harness.call(f"mcp_notes_{tool}", n=n) for n in range(3) for tool in ("put", "get")))
    assert harness.world.effects == ["put 0", "get 0", "put 1", "get 1", "put 2", "get 2"]
    assert harness.world.most_running == 1


@pytest.mark.spec("B6")
async def test_tools_of_which_the_server_says_that_they_only_read_run_at_the_same_time():
    harness = server_context()
    batch = harness.schedule(*(harness.call("mcp_notes_get", n=n) for n in range(5)))
    await harness.settle()
    assert harness.world.running == 5
    harness.world.door("d").set()
    await batch.results()
