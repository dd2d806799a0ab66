"""One door: no effect without the gate, and no process, socket or file write outside the packages meant for them."""

import ast
import socket
from functools import cache
from pathlib import Path

import pytest

from assent.events import CallStarted
from assent.files.workspace import Workspace
from assent.parts import SearchAnswer
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.scheduler.call import Failed
from assent.scheduler.scheduler import Scheduler
from assent.scheduler.scheduler_options import SchedulerOptions
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool
from assent.tools.web_search import WebSearchTool
from assent.web.fetch import Web
from support.doubles import ListJournal
from support.scheduler_harness import SchedulerHarness

SOURCE = Path(__file__).resolve().parent.parent / "src" / "assent"

ARGS: dict[str, dict[str, object]] = {
    "read_file": {"file_path": "a.txt"},
    "read_many_files": {"include": ["*"]},
    "list_directory": {"dir_path": "."},
    "glob": {"pattern": "*"},
    "grep_search": {"pattern": "a"},
    "write_file": {"file_path": "new.txt", "content": "x"},
    "replace": {"file_path": "a.txt", "old_string": "a", "new_string": "b"},
    "run_shell_command": {"command": "touch new.txt"},
    "list_background_processes": {},
    "read_background_output": {"pid": 1},
    "stop_background_process": {"pid": 1},
    "web_fetch": {"prompt": "Read https://example.org/ for me."},
    "web_search": {"query": "x"},
    "ask_user": {"questions": [{"question": "?", "type": "yesno"}]},
    "propose_plan": {"steps": ["x"]},
    "write_todos": {"todos": []},
    "save_memory": {"fact": "x"},
    "undo": {"call_id": "c1"},
    "connect": {"command": "x", "host": "example.org", "port": 443},
}
CHANGING = ("write_file", "replace", "run_shell_command", "save_memory", "web_fetch", "web_search")


class ForbiddenNetwork:
    """A network that nothing may use; it records every attempt."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.web = Web(self._resolve, self._dial)

    async def _resolve(self, host: str) -> list[str]:
        self.asked.append(host)
        return ["93.184.216.34"]

    async def _dial(self, address: str, port: int) -> socket.socket:
        self.asked.append((address, port))
        raise ConnectionRefusedError

    async def search(self, query: str) -> SearchAnswer:
        self.asked.append(query)
        return SearchAnswer("")

    def tools(self, folder: Path) -> list[AnyTool]:
        workspace = Workspace([str(folder)], str(folder))
        memory = folder / "home" / "ASSENT.md"
        return [*builtin_tools(workspace, web=self.web, memory=memory), WebSearchTool(self.search)]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.spec("I2")
async def test_with_a_gate_that_always_refuses_no_tool_does_anything(tmp_path: Path):
    (tmp_path / "a.txt").write_text("a")
    network = ForbiddenNetwork()
    tools = network.tools(tmp_path)
    assert {tool.name for tool in tools} == set(ARGS), "a new tool needs its arguments here"
    journal = ListJournal()
    policy = Policy([Rule(ruling="deny")], "yolo", roots=(str(tmp_path),))
    scheduler = Scheduler("s", Registry(tools), policy, journal)
    before = tree(tmp_path)
    harness = SchedulerHarness()
    results = await scheduler.schedule([harness.call(name, args=args) for name, args in ARGS.items()]).results()
    assert [type(call) for call in results] == [Failed] * len(ARGS)
    assert not any(isinstance(event, CallStarted) for event in journal.events)
    assert tree(tmp_path) == before
    assert network.asked == [], "not even a name was looked up"


@pytest.mark.spec("I2")
async def test_with_nobody_to_ask_nothing_that_changes_anything_runs(tmp_path: Path):
    (tmp_path / "a.txt").write_text("a")
    journal = ListJournal()
    network = ForbiddenNetwork()
    registry = Registry(network.tools(tmp_path))
    scheduler = Scheduler("s", registry, Policy(roots=(str(tmp_path),)), journal, SchedulerOptions(attended=False))
    before = tree(tmp_path)
    harness = SchedulerHarness()
    changing = [harness.call(name, args=ARGS[name]) for name in CHANGING]
    results = await scheduler.schedule(changing).results()
    assert [type(call) for call in results] == [Failed] * len(CHANGING)
    assert tree(tmp_path) == before
    assert network.asked == []


# --- packages ---

MAY_SPAWN = {"process"}
MAY_DIAL = {
    "models/streaming_client.py",
    "web/dial.py",
    "mcp/http_transport.py",
    "client",
    "proxy",
    "bus",
    "s3/s3_client.py",
    "front/web/web_server.py",
    "front/web/listening.py",
} | {
    "sandbox/self_test.py"  # it listens, to see that nobody in a sandbox gets through
}
SUPERVISING = {f"process/{name}.py" for name in ("supervisor_client", "supervisor", "reaper", "leftover_processes")} | {
    "process/connections.py"
}
MAY_WRITE = {"files", "session", "process", "sandbox", "failpoints.py", "front/tour"} | {
    "proxy/sandbox_port.py"  # its own socket
}


def modules() -> list[Path]:
    return [path for path in SOURCE.rglob("*.py") if "tour/sample" not in str(path)]


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def dotted(node: ast.expr) -> str:
    """`os.path.join` as it is written; whatever is no name is left out, as in `.write_text` of something."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{dotted(value)}.{name}"
        case _:
            return ""


@cache
def used_names(path: Path) -> set[str]:
    """The dotted names that the module calls or imports."""
    found: set[str] = set()
    for node in nodes(path):
        match node:
            case ast.Import(names=imported):
                found |= {alias.name for alias in imported}
            case ast.ImportFrom(module=str(module)):
                found.add(module)
            case ast.Call(func=func):
                found.add(dotted(func))
            case _:
                pass
    return found


def module_path(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def outside(names: set[str], allowed: set[str]) -> dict[str, set[str]]:
    places = {module_path(path): used_names(path) & names for path in modules()}
    return {
        place: found
        for place, found in places.items()
        if found and not any(place.startswith(known) for known in allowed)
    }


def test_only_the_process_package_starts_programs():
    spawning = {"subprocess", "os.execv", "os.execve", "os.system", "os.fork", "os.posix_spawn", "pty"}
    spawning |= {
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "anyio.open_process",
        "mcp.client.stdio",
    }
    assert outside(spawning, MAY_SPAWN) == {}


STARTS_PROGRAMS = {
    "reaper.py": "every command, pipeline, search and server, in the sandbox that its launcher makes",
    "spawn.py": "the same where there is no supervisor",
    "supervisor_client.py": "the supervisor",
    "supervisor.py": "reapers",
    "file_gate.py": "the launcher that follows it, which was started by a reaper",
    "landlock_start.py": "what it becomes; it is a launcher itself",
    "overlay_mount.py": "what it becomes; it is the launcher of trials",
    "jobs.py": "programs of a plan, by a process that is in the sandbox of the plan",
    "repository.py": "git, by the same process",
    "excluded_secrets.py": "git, by the same process",
    "git_bounds.py": "git, by the same process",
    "editor.py": "the editor of the person, who works in it",
    "clipboard_picture.py": "the clipboard of the person",
    "key_command.py": "a command of the person's own settings that prints a key",
}
"""The modules of the package `process` that start something, and what."""


def test_there_is_one_launcher_and_every_exception_has_a_reason():
    calls = {"subprocess.Popen", "subprocess.run", "subprocess.check_output", "os.system", "os.fork", "os.posix_spawn"}
    calls |= {"os.execv", "os.execve", "os.execvp", "os.execvpe", "pty.spawn", "pty.fork"}
    calls |= {"asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"}
    found = {path.name for path in modules() if path.parent.name == "process" and used_names(path) & calls}
    assert found == set(STARTS_PROGRAMS), "what starts a program has to use the launcher, or has a reason here"


def test_only_a_few_modules_touch_the_network():
    """The clients of models, MCP servers, object stores and our own; what dials judged addresses; and the web server.

    The supervisor of commands is reached through an unnamed pair of sockets, and the kernel is asked about other
    programs' connections.
    """
    dialling = {"socket", "asyncio.open_connection", "http.client", "urllib.request", "ssl.wrap_socket", "httpx2"}
    assert outside(dialling | {"mcp.client.streamable_http", "mcp.client.sse"}, MAY_DIAL | SUPERVISING) == {}


def writes(path: Path) -> set[str]:
    """Calls that write files: `open` with a writing mode, and the names that always write."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            modes = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if name == "open" and any(set(mode) & set("wax+") for mode in modes):
                found.add(name)
            if name.endswith((".write_text", ".write_bytes")) or name in ("os.rename", "os.replace", "os.unlink"):
                found.add(name)
    return found


def test_files_are_written_only_in_the_packages_meant_for_it():
    places = {module_path(path): writes(path) for path in modules()}
    strays = {p: found for p, found in places.items() if found and not any(p.startswith(known) for known in MAY_WRITE)}
    assert strays == {}


def test_only_the_scheduler_hands_out_permits():
    makers = {module_path(path) for path in modules() if "Permit" in used_names(path)}
    assert makers == {"scheduler/execution.py"}
