"""Tools that a project brings with its own commands: found, bounded, asked about, and run exactly as said."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assent.approval import McpDetails
from assent.config import BadSettings, ProjectCommands, parse_settings
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.mcp.discovery import MAX_TOOLS, BadDiscovery, declared
from assent.mcp.pins import PinStore
from assent.mcp.project_tools import ProjectTools
from assent.policy.rules import Rule, parse_allowed
from assent.scheduler.call import Success
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from assent.tools.tool import InvalidParams, Live, Permit, ToolResult
from support.no_network import NoNetwork
from support.processes import alive
from support.scheduler_harness import SchedulerHarness
from support.servers import HERE
from support.waiting import WAIT_LIMIT

SCRIPT = (sys.executable, str(HERE / "project_command.py"))
OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Screen(NoNetwork, Live):
    def __init__(self) -> None:
        self.shown, self.pid = "", 0
        self.started = asyncio.Event()

    def output(self, text: str) -> None:
        self.shown += text

    def received(self, total: int) -> None:
        raise AssertionError("text only")

    def process(self, pid: int) -> None:
        self.pid = pid
        self.started.set()

    def asks(self, wanted: object, type_in: object) -> None:
        raise AssertionError("it has no terminal")


class Project:
    def __init__(self, folder: Path, **limits: Any) -> None:
        discovery = limits.pop("discovery", (*SCRIPT, "discover"))
        limits = {"timeout": 20.0, "discovery_timeout": 20.0, **limits}
        commands = ProjectCommands(discovery, (*SCRIPT, "call"), place="settings.toml: tools", **limits)
        self.registry = Registry(builtin_tools(Workspace([str(folder)], str(folder))))
        env = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "GEMINI_API_KEY": "canary", "MY_TOKEN": "canary"}
        store = PinStore(folder / "pins.json")
        outputs = PrivateFolder(str(folder / "outputs"))
        self.tools = ProjectTools(commands, str(folder), self.registry, store, env=env, outputs=outputs)

    def names(self) -> list[str]:
        return [tool.name for tool in self.registry if tool.server]

    async def call(self, name: str, live: Live | None = None, **args: object) -> ToolResult:
        tool = await self.registry.find(f"discovered_tool_{name}")
        assert tool is not None
        invocation = tool.build(args)
        await invocation.should_confirm()
        return await invocation.execute(Permit(call_id="c1", digest="digest"), live or Screen())


@asynccontextmanager
async def open_project(folder: Path, *declarations: Any, **limits: Any) -> AsyncGenerator[Project]:
    if declarations:
        (folder / "declarations").write_text(json.dumps(declarations))
    project = Project(folder, **limits)
    project.tools.start()
    try:
        async with asyncio.timeout(WAIT_LIMIT):
            await project.tools.settled()
        yield project
    finally:
        await project.tools.close()


@pytest.mark.spec("E2")
@pytest.mark.parametrize(
    "printed",
    [
        [{"name": "say", "description": "Says it.", "parameters": OBJECT}],
        [{"name": "say", "description": "Says it.", "parametersJsonSchema": OBJECT}],
        [{"function_declarations": [{"name": "say", "description": "Says it.", "parameters": OBJECT}]}],
        [{"functionDeclarations": [{"name": "say", "description": "Says it.", "parameters": OBJECT}]}],
        [
            {
                "name": "say",
                "description": "Says it.",
                "parameters": {"type": "OBJECT", "properties": {"text": {"type": "STRING"}}, "required": ["text"]},
            }
        ],
    ],
)
async def test_the_tools_are_found_and_called_with_their_name_and_json_on_the_input(tmp_path: Path, printed: list[Any]):
    async with open_project(tmp_path, *printed) as project:
        assert project.tools.status.state == "ready" and project.names() == ["discovered_tool_say"]
        (declaration,) = [d for d in project.registry.declarations() if d.name == "discovered_tool_say"]
        assert declaration.description == "A tool of this project, which describes it as: Says it."
        assert declaration.schema == OBJECT
        result = await project.call("say", text="hé")
        assert json.loads(str(result.content)) == {"name": "say", "given": {"text": "hé"}, "folder": str(tmp_path)}
        assert result.failure is None
        with pytest.raises(InvalidParams, match="'text' is a required property"):
            await project.call("say")


@pytest.mark.spec("E2")
async def test_a_bad_declaration_is_dropped_alone_and_named(tmp_path: Path):
    printed: list[Any] = [
        {"name": "good"},
        "text",
        {"description": "no name"},
        {"name": "read_file"},
        {"name": "odd", "parameters": "x"},
        {"name": "odd2", "description": 5},
        {"name": "deep", "parameters": {"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}}},
        {"name": "--help"},
        {"name": "twice"},
        {"name": "Twice"},
    ]
    async with open_project(tmp_path, *printed) as project:
        assert project.names() == ["discovered_tool_good"]
        refused = {refusal.tool: refusal.reason for refusal in project.tools.status.refused}
        assert refused["read_file"] == "a built-in tool has this name"
        assert set(refused) == {
            *("declaration number 2", "declaration number 3", "read_file", "odd", "odd2", "deep", "--help"),
            *("twice", "Twice"),
        }


@pytest.mark.parametrize("printed", [b"", b"hello", b"{}", b"[1", b"\xff[]", b"[" * 100_000])
def test_anything_but_a_json_array_is_refused_as_a_whole(printed: bytes):
    with pytest.raises(BadDiscovery, match="it did not print"):
        declared(printed, ())


def test_more_declarations_than_anyone_needs_are_cut_and_counted():
    offers, refused = declared(json.dumps([{"name": f"t{n}"} for n in range(MAX_TOOLS + 3)]).encode(), ())
    assert len(offers) == MAX_TOOLS and refused[0].tool == "3 others"


@pytest.mark.spec("E2")
@pytest.mark.parametrize(
    ("discovery", "reason"),
    [
        (("no-such-program",), "cannot start `no-such-program`: No such file or directory"),
        (("sh", "-c", "echo broken >&2; exit 3"), "it ended with code 3: broken"),
        (("sh", "-c", "kill -9 $$"), "it ended by signal 9"),
        (("sh", "-c", "echo nothing"), "it did not print JSON: JSON is malformed: invalid character (byte 4)"),
        (("sh", "-c", "yes '[]'"), "it printed more than 4,194,304 bytes"),
        (("sleep", "600"), "it did not finish within 0.5 s"),
    ],
)
async def test_a_discovery_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, discovery: tuple[str, ...], reason: str
):
    limit = 0.5 if discovery[0] == "sleep" else 20.0
    async with open_project(tmp_path, discovery=discovery, discovery_timeout=limit) as project:
        assert (project.tools.status.state, project.tools.status.reason) == ("failed", reason)
        assert project.names() == []


@pytest.mark.spec("E2")
@pytest.mark.parametrize(
    ("tool", "said", "failed"),
    [
        ("fail", "Stdout: half of it\n\nStderr: no disk\n\nExit Code: 1", True),
        ("killed", "Stdout: (empty)\nStderr: (empty)\nSignal: 9", True),
        ("warn", "Stdout: done\n\nStderr: deprecated\n\nExit Code: 0", False),
    ],
)
async def test_what_did_not_go_well_comes_with_everything(tmp_path: Path, tool: str, said: str, failed: bool):
    async with open_project(tmp_path, {"name": tool}) as project:
        result = await project.call(tool)
        assert result.content == said and (result.failure is not None) == failed


@pytest.mark.spec("E2")
@pytest.mark.spec("D7")
async def test_a_call_that_takes_too_long_or_prints_too_much_is_ended(tmp_path: Path):
    async with open_project(tmp_path, {"name": "wait"}, {"name": "flood"}, timeout=3.0) as project:
        screen = Screen()
        result = await project.call("wait", screen)
        assert str(result.content).endswith("Timed out: it ran for 3 seconds and was stopped.")
        assert not alive(screen.pid)
    async with open_project(tmp_path, {"name": "flood"}, timeout=60.0) as project:
        result = await project.call("flood")
        assert "Stopped: it printed more than 10,485,760 bytes." in str(result.content)


@pytest.mark.spec("B8")
async def test_cancelling_a_call_ends_its_process(tmp_path: Path):
    async with open_project(tmp_path, {"name": "wait"}) as project:
        screen = Screen()
        running = asyncio.create_task(project.call("wait", screen))
        await screen.started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not alive(screen.pid)


@pytest.mark.spec("I3")
async def test_the_command_gets_no_secret_and_a_long_result_is_kept_in_a_file(tmp_path: Path):
    async with open_project(tmp_path, {"name": "environment"}, {"name": "long"}) as project:
        seen = json.loads(str((await project.call("environment")).content))
        assert "canary" not in seen.values() and seen["PATH"] == "/usr/bin:/bin"
        text = str((await project.call("long")).content)
        (kept,) = (tmp_path / "outputs").iterdir()
        assert str(kept) in text and len(text) < 42_000 and "first" in text and "last" in text
        assert kept.read_text() == "first\n" + "x" * 100_000 + "\nlast\n"


# --- at the gate ---


@pytest.mark.spec("E2")
@pytest.mark.spec("C1")
async def test_a_call_asks_and_shows_the_command_and_the_arguments(tmp_path: Path):
    async with open_project(tmp_path, {"name": "say", "description": "Says it.\x1b[2J"}) as project:
        harness = SchedulerHarness(registry=project.registry)
        batch = harness.schedule(harness.call("discovered_tool_say", "c1", text="x"))
        await harness.settle()
        details = harness.approval("c1").details
        assert isinstance(details, McpDetails)
        assert (details.tool, details.args, details.description) == ("say", {"text": "x"}, "Says it.\\x1b[2J")
        assert details.command.startswith(" ".join((*SCRIPT, "call", "say"))) and str(tmp_path) in details.command
        assert harness.approval("c1").why == "it runs a project command, and no rule allows this tool"
        await harness.answer("c1")
        assert isinstance((await batch.results())[0], Success)


@pytest.mark.spec("C7")
async def test_a_rule_by_the_tools_name_allows_it_and_plan_mode_does_not(tmp_path: Path):
    async with open_project(tmp_path, {"name": "say"}) as project:
        rule = parse_allowed("discovered_tool_say")
        allowed = SchedulerHarness(registry=project.registry, rules=(rule,))
        assert await allowed.run(allowed.call("discovered_tool_say")) == ["Success"]
        plan = SchedulerHarness(registry=project.registry, mode="plan", rules=(rule,))
        assert await plan.run(plan.call("discovered_tool_say")) == ["Failed"]
        edits = SchedulerHarness(registry=project.registry, mode="auto_edit", attended=False)
        assert await edits.run(edits.call("discovered_tool_say")) == ["Failed"]
    assert (tmp_path / "calls").read_text() == "say\n"


@pytest.mark.spec("E2")
async def test_a_tool_that_changed_since_the_last_session_asks_again_whatever_is_allowed(tmp_path: Path):
    rule = Rule(ruling="allow", tool="discovered_tool_*", tier="user", place="policy.toml")
    async with open_project(tmp_path, {"name": "say", "description": "Says it."}) as project:
        harness = SchedulerHarness(registry=project.registry, rules=(rule,))
        assert await harness.run(harness.call("discovered_tool_say")) == ["Success"]
    new = ({"name": "say", "description": "Says it to everyone."}, {"name": "more"})
    async with open_project(tmp_path, *new) as project:
        assert project.tools.status.unseen == ("discovered_tool_say", "discovered_tool_more")
        harness = SchedulerHarness(registry=project.registry, rules=(rule,))
        batch = harness.schedule(harness.call("discovered_tool_say", "c1"))
        await harness.settle()
        assert harness.approval("c1").why.startswith("the project's command has changed its description of this tool")
        await harness.answer("c1")
        await batch.results()
        assert project.tools.status.unseen, "the other is still new"
        assert await harness.run(harness.call("discovered_tool_say", "c2")) == ["Success"]


# --- the settings ---


def test_the_commands_are_words_or_a_line_without_a_shell():
    text = b'[tools]\ndiscovery_command = "bin/tools --list \'a b\'"\ncall_command = ["bin/call", "x y"]\n'
    assert parse_settings(text, Path("s.toml")).tools.call_command == ("bin/call", "x y")


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('discovery_command = "x"', "give both `discovery_command` and `call_command`"),
        ('call_command = "x"', "give both `discovery_command` and `call_command`"),
        ('discovery_command = "a \'b"\ncall_command = "x"', "tools.discovery_command: No closing quotation"),
        ('discovery_command = [""]\ncall_command = "x"', "this is not a valid command"),
        ('discovery_command = "x"\ncall_command = "x"\ntimeout = 0', "timeout"),
        ('discover = "x"', "there is no setting `tools.discover`"),
    ],
)
def test_commands_that_cannot_be_used_are_told(table: str, problem: str):
    with pytest.raises(BadSettings, match=problem):
        parse_settings(f"[tools]\n{table}\n".encode(), Path("s.toml"))
