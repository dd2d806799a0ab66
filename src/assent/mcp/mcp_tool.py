"""A third-party tool as one of ours: it asks with everything the person should know, and runs only with a permit."""

from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assent.approval import McpDetails
from assent.mcp.definitions import Definition
from assent.mcp.schemas import BadSchema, problem_of
from assent.parts import JsonObject
from assent.screen import make_safe
from assent.tools.support.throttle import Throttle
from assent.tools.tool import AnyTool, InvalidParams, Invocation, Live, Permit, Resources, ToolFailed, ToolResult


class McpCall(Struct, frozen=True):
    """What executing a call requires besides its arguments."""

    id: str
    progress: Callable[[str], None]
    started: Callable[[int], None]
    """Called with the process that was started for it."""


class Owner(Protocol):
    """The other side of a tool: a server, or a command of the project."""

    @property
    def name(self) -> str: ...

    @property
    def trusted(self) -> bool: ...

    def current(self, tool: str) -> Definition | None: ...

    def unseen(self, definition: Definition) -> str: ...

    def accept(self, *definition: Definition) -> None: ...

    def introduced(self) -> str:
        """Whose tool it is, for the model."""
        ...

    def command(self, tool: str) -> str:
        """What is run for a call, if that is a program; for the person."""
        ...

    def touched(self) -> Resources: ...

    async def call(self, tool: str, args: JsonObject, call: McpCall) -> ToolResult: ...


class McpTool(AnyTool):
    kind = "other"
    can_update_output = True

    def __init__(self, owner: Owner, definition: Definition) -> None:
        self._owner = owner
        self._definition = definition
        self.name = definition.name
        self.server = owner.name
        self.display_name = f"{definition.title} ({owner.name})"
        self.description = f"{owner.introduced()}, which describes it as: {definition.description}"

    def schema(self) -> JsonObject:
        return self._definition.schema

    def build(self, args: JsonObject) -> Invocation:
        try:
            problem = problem_of(args, self._definition.schema)
        except BadSchema as error:
            problem = str(error)
        if problem:
            raise InvalidParams(f"Invalid arguments for {self.name}: {problem}")
        return McpInvocation(self._owner, self._definition.tool, args)


class McpInvocation(Invocation):
    def __init__(self, owner: Owner, tool: str, args: JsonObject) -> None:
        self._owner = owner
        self._tool = tool
        self._args = args
        self._shown: Definition | None = None

    def describe(self) -> str:
        return make_safe(msgspec.json.encode(self._args).decode(), "label").text if self._args else ""

    async def should_confirm(self) -> McpDetails:
        """Always of the current definition: a tool that has changed since it was shown is another action."""
        now = self._shown = self._now()
        trusted = self._owner.trusted
        return McpDetails(
            server=self._owner.name,
            tool=self._tool,
            args=self._args,
            description=now.description,
            definition=now.digest,
            unseen=self._owner.unseen(now),
            read_only=trusted and now.read_only,
            command=self._owner.command(self._tool),
        )

    def resources(self) -> Resources:
        """A server may touch anything. Its claim that a tool only reads is enough here: it only decides what may run at
        the same time, not what may run.
        """
        now = self._owner.current(self._tool)
        anything = "read" if now is not None and now.read_only else "write"
        return replace(self._owner.touched(), anything=anything)

    def _now(self) -> Definition:
        now = self._owner.current(self._tool)
        if now is None:
            raise ToolFailed("mcp_tool_gone", f"The server {self._owner.name} no longer offers this tool.")
        return now

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        now = self._now()
        if now != self._shown:
            raise ToolFailed("mcp_tool_changed", "The tool changed just before it was called. Ask again.")
        if permit.by_person:
            self._owner.accept(now)
        progress = Throttle(live.output)
        try:
            return await self._owner.call(self._tool, self._args, McpCall(permit.call_id, progress.add, live.process))
        finally:
            progress.close()
