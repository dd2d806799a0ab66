"""Tools that a project provides with two commands: one lists them, the other runs for each call.

Only in a trusted folder; the caller has checked. The commands run without a shell, with a few ordinary variables and no
secrets, and their output is limited. A call needs approval like one of a server's tools, and tool descriptions are
pinned the same way.
"""

import asyncio
import functools
import hashlib
import shlex
from collections.abc import Callable, Mapping

import msgspec

from assent.config import ProjectCommands
from assent.files.private_folder import PrivateFolder
from assent.mcp.definitions import PROJECT_PREFIX, Definition, Refusal, define, project_name
from assent.mcp.discovery import BadDiscovery, declared
from assent.mcp.kept_results import KeptResults
from assent.mcp.mcp_tool import McpCall, McpTool
from assent.mcp.pins import PinStore
from assent.mcp.server_supervisor import State, Status
from assent.parts import Failure, JsonObject, PlainDisplay
from assent.process.environment import child_environment
from assent.process.input_exchange import Exchanged, exchange
from assent.process.output_buffer import cut_middle
from assent.process.plain_text import plain
from assent.screen import make_safe
from assent.secrets.mask import Masker
from assent.tools.registry import Registry
from assent.tools.support.whole_output import MODEL_CHARACTERS
from assent.tools.tool import Resources, ToolFailed, ToolResult

NAME = "project_tools"
"""Its name in rules and lists. No server can have it: their names contain no underscore."""
DISCOVERY_BYTES = 4 << 20
CALL_BYTES = 10 << 20


class ProjectTools:
    def __init__(
        self,
        commands: ProjectCommands,
        folder: str,
        registry: Registry,
        pins: PinStore,
        *,
        env: Mapping[str, str],
        masker: Masker | None = None,
        outputs: PrivateFolder | None = None,
    ) -> None:
        self.status = Status(server=NAME, state="connecting")
        self._commands, self._folder = commands, folder
        self._registry = registry
        self._built_in = frozenset(registry.names())
        self._pins = pins.of(_identity(commands, folder), "the project's command")
        self._env = child_environment(env)
        self._listeners: list[Callable[[Status], None]] = []
        self._masker = masker or Masker()
        self._outputs = KeptResults(outputs, self._masker)
        self._definitions: dict[str, Definition] = {}
        self._task: asyncio.Task[None] | None = None
        registry.await_with(self._settled_for)

    # --- discovery ---

    def start(self) -> None:
        """Returns at once; the tools appear when the command has listed them."""
        self._task = asyncio.create_task(self._discover(), name=NAME)

    def listen(self, listener: Callable[[Status], None]) -> None:
        """Called on every change of the status; it must not block."""
        self._listeners.append(listener)

    async def settled(self) -> Status:
        if self._task is not None:
            await asyncio.wait([self._task])
        return self.status

    async def _settled_for(self, tool: str) -> None:
        if tool.startswith(PROJECT_PREFIX):
            await self.settled()

    async def close(self) -> None:
        """When this returns, no program that we started is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _discover(self) -> None:
        self._say("connecting")
        try:
            offers, refused = declared(await self._discovered(), self._built_in)
        except BadDiscovery as error:
            self._say("failed", str(error))
            return
        named = functools.partial(define, NAME, named=project_name)
        found, more = await asyncio.to_thread(named, offers)  # hostile schemas take a while
        self._pins.look(found)
        self._definitions = {definition.tool: definition for definition in found}
        self._registry.replace_server(NAME, [McpTool(self, definition) for definition in found])
        self._say("ready", refused=(*refused, *more))

    async def _discovered(self) -> bytes:
        """The output of the command. Raises BadDiscovery."""
        limit = self._commands.discovery_timeout
        try:
            done = await exchange(
                self._commands.discovery,
                cwd=self._folder,
                env=self._env,
                input=b"",
                seconds=limit,
                most_bytes=DISCOVERY_BYTES,
            )
        except OSError as error:
            text = f"cannot start `{shlex.join(self._commands.discovery)}`: {error.strerror}"
            raise BadDiscovery(text) from error
        match done:
            case Exchanged(ended="timeout"):
                raise BadDiscovery(f"it did not finish within {limit:g} s")
            case Exchanged(ended="too_much_output"):
                raise BadDiscovery(f"it printed more than {DISCOVERY_BYTES:,} bytes")
            case Exchanged(status=0):
                return done.output
            case _:
                words = [line for line in done.errors.splitlines() if line.strip()]
                raise BadDiscovery(f"it ended {_how(done.status)}{f': {words[-1].strip()}' if words else ''}")

    def _say(self, state: State, reason: str = "", refused: tuple[Refusal, ...] = ()) -> None:
        unseen = tuple(d.name for d in self._definitions.values() if self._pins.unseen(d))
        safe_reason = make_safe(self._masker.text(reason[:1000]), "label").text
        names = tuple(definition.name for definition in self._definitions.values())
        self.status = Status(server=NAME, state=state, reason=safe_reason, tools=names, refused=refused, unseen=unseen)
        for listener in self._listeners:
            listener(self.status)

    def accept_all(self) -> list[str]:
        """The person has looked at the tools and accepts them as they are; returns those that were new or changed."""
        news = [definition for definition in self._definitions.values() if self.unseen(definition)]
        self.accept(*news)
        return [definition.name for definition in news]

    # --- what the tools need ---

    @property
    def name(self) -> str:
        return NAME

    @property
    def trusted(self) -> bool:
        """Never: trust in a folder lets it offer tools, not use them."""
        return False

    def current(self, tool: str) -> Definition | None:
        return self._definitions.get(tool)

    def unseen(self, definition: Definition) -> str:
        return self._pins.unseen(definition)

    def accept(self, *definition: Definition) -> None:
        self._pins.accept(*definition)

    def introduced(self) -> str:
        return "A tool of this project"

    def command(self, tool: str) -> str:
        return f"{shlex.join((*self._commands.call, tool))}   (in {self._folder}, with the arguments on its input)"

    def touched(self) -> Resources:
        """A command may touch anything in the workspace."""
        return Resources(writes=(self._folder.rstrip("/") + "/",))

    async def call(self, tool: str, args: JsonObject, call: McpCall) -> ToolResult:
        try:
            done = await exchange(
                (*self._commands.call, tool),
                cwd=self._folder,
                env=self._env,
                input=msgspec.json.encode(args),
                seconds=self._commands.timeout,
                most_bytes=CALL_BYTES,
                on_start=call.started,
                on_output=lambda data: call.progress(data.decode(errors="replace")),
            )
        except OSError as error:
            text = f"The command could not be run: {error.strerror}"
            raise ToolFailed("project_tool_not_run", text) from error
        return self._result(done, call.id)

    def _result(self, done: Exchanged, call_id: str) -> ToolResult:
        """Its output; if it failed, everything there is to know."""
        output = plain(done.output.decode(errors="replace"))
        problem = self._problem(done)
        said = output
        if problem or done.errors.strip():
            ending = problem or "Exit Code: 0"
            said = f"Stdout: {output or '(empty)'}\nStderr: {plain(done.errors) or '(empty)'}\n{ending}"
        shown = cut_middle(said, MODEL_CHARACTERS)
        note = self._outputs.of(call_id)(said) if len(said) > MODEL_CHARACTERS else ""
        failure = Failure("project_tool_failed", problem) if problem else None
        content = "\n".join(filter(None, (note, shown))) or "The tool produced no output."
        return ToolResult(content, PlainDisplay(shown or "(no output)"), failure)

    def _problem(self, done: Exchanged) -> str:
        match done:
            case Exchanged(ended="timeout"):
                return f"Timed out: it ran for {self._commands.timeout:g} seconds and was stopped."
            case Exchanged(ended="too_much_output"):
                return f"Stopped: it printed more than {CALL_BYTES:,} bytes."
            case Exchanged(status=0):
                return ""
            case Exchanged(status=int(number)) if number < 0:
                return f"Signal: {-number}"
            case Exchanged(status=number):
                return f"Exit Code: {number}"


def _how(status: int | None) -> str:
    return f"by signal {-status}" if status is not None and status < 0 else f"with code {status}"


def _identity(commands: ProjectCommands, folder: str) -> str:
    """Identifies them: other commands, or another folder, are other tools."""
    who = (NAME, folder, commands.discovery, commands.call)
    return hashlib.sha256(msgspec.json.encode(who)).hexdigest()
