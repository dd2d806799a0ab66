"""The lifecycle of one server: connecting → ready → lost → connecting again, with growing pauses, until it is given up.

One task connects, discovers and waits; calls come from other tasks. While it reconnects, its tools stay in the registry
and calls wait; when it is given up, they are removed. An address that worked once is never given up for good: its
server may be started again at any time.
"""

import asyncio
import contextlib
import importlib
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct, field

from assent.files.private_folder import PrivateFolder
from assent.mcp.definitions import Definition, Refusal, define
from assent.mcp.kept_results import KeptResults, Part
from assent.mcp.mcp_tool import McpCall, McpTool
from assent.mcp.notifications import Era, OlderTransport, Undelivered
from assent.mcp.offers import Offers
from assent.mcp.pins import Pins
from assent.mcp_config import McpServer, MissingVariable
from assent.parts import JsonObject
from assent.screen import make_safe
from assent.secrets.mask import Masker
from assent.tools.registry import Registry
from assent.tools.tool import Resources, ToolFailed, ToolResult

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from assent.mcp.server_connection import ServerConnection

State = Literal["connecting", "ready", "failed", "disconnected"]
ATTEMPTS = 8
STEADY_SECONDS = 30.0
"""After this many seconds a connection counts as good, and the count of failures starts again."""
REFRESH_PAUSE = 0.2
LOG_LINES = 200
T = TypeVar("T")


class Status(Struct, frozen=True, kw_only=True):
    """What a front end shows about a server. `reason` is made safe."""

    server: str
    state: State
    reason: str = ""
    tools: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    unseen: tuple[str, ...] = ()
    """Tools that are new or changed, and need approval even if the server is trusted."""
    prompts: int = 0
    resources: int = 0
    """Including templates."""


def pause_before(attempt: int) -> float:
    return min(30.0, 0.5 * 2 ** min(attempt, 10))


class ServerContext(Struct, frozen=True, kw_only=True):
    """What all servers of a session share."""

    folder: str
    registry: Registry
    env: Mapping[str, str] = os.environ
    pause: Callable[[int], float] = pause_before
    masker: Masker = field(default_factory=Masker)
    """Masks what a program or a library prints, which may repeat what it was given."""
    outputs: PrivateFolder | None = None
    """The folder for results that are too long for the model."""


class ServerSupervisor:
    def __init__(
        self, server: McpServer, context: ServerContext, pins: Pins, announce: Callable[[Status], None]
    ) -> None:
        self.server = server
        self.status = Status(server=server.name, state="connecting")
        self.offers = Offers()
        self.log: deque[str] = deque(maxlen=LOG_LINES)
        self._context = context
        self._pins = pins
        self._announce = announce
        self._outputs = KeptResults(context.outputs, context.masker)
        self._definitions: dict[str, Definition] = {}
        self._connection: ServerConnection | None = None
        self._settled = asyncio.Event()
        self._first = self.status
        """Its status after the first attempt."""
        self._turned = asyncio.Event()
        """Set when there is a connection, or there will be none."""
        self._stirred = asyncio.Event()
        self._lost = ""
        self._era: Era = "sse" if server.entry.type == "sse" else "auto"
        self._ready_at = 0.0
        """When the current connection became ready, by the event loop's clock; 0 if it has not."""
        self._was_ready = False
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    # --- lifecycle ---

    def start(self) -> None:
        self._stopped = False
        self._turned.clear()
        self._task = asyncio.create_task(self._live(), name=f"mcp {self.server.name}")

    async def stop(self) -> None:
        """The SDK may swallow a cancellation that coincides with one of its own errors."""
        self._stopped = True
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=5)

    async def settled(self) -> Status:
        """Wait until it is ready or the first attempt has failed; later attempts run in the background."""
        await self._settled.wait()
        return self.status if self.status.state == "ready" else self._first

    def _settle(self) -> None:
        if not self._settled.is_set():
            self._first = self.status
            self._settled.set()

    async def _live(self) -> None:
        failures = 0
        while not self._stopped and (failures < ATTEMPTS or self._may_return):
            if failures:
                await asyncio.sleep(self._context.pause(failures - 1))
            self._say("connecting")
            held, reason = await self._run_connection()
            failures = 1 if held >= STEADY_SECONDS else failures + 1
            over = failures >= ATTEMPTS
            if over:
                self._forget()
                self._turned.set()
            self._say("disconnected" if held > 0 and not over else "failed", reason)
            self._settle()
        self._turned.set()

    @property
    def _may_return(self) -> bool:
        return self._was_ready and bool(self.server.entry.url)

    async def _run_connection(self) -> tuple[float, str]:
        """A server that does not know our handshake gets another one, the older way."""
        held, reason, other = await self._connection_of(self._era)
        if other is not None and not self._settled.is_set():
            before, self._era = self._era, other
            held, again, _ = await self._connection_of(other)
            reason = again if held else reason
            self._era = other if held else before
        return held, reason

    async def _connection_of(self, era: Era) -> tuple[float, str, Era | None]:
        """One connection from beginning to end: how many seconds it was ready, why it ended, and which other handshake
        might work better.
        """
        loop = asyncio.get_running_loop()
        connection_module = await asyncio.to_thread(importlib.import_module, "assent.mcp.server_connection")
        self._lost, self._ready_at = "", 0.0
        self._stirred.clear()
        other: Era | None = None
        try:
            await self._connected(
                connection_module.connect(self.server, self._context.folder, self._context.env, self, era)
            )
            reason = self._lost
        except MissingVariable as error:
            reason = str(error)
        except Exception as error:
            reason = self._lost or connection_module.why(error, self.server)
            other = self._other_way(era, error)
        finally:
            self._connection = None
            self._turned.clear()
        ready = self._ready_at
        return (max(loop.time() - ready, 1e-9) if ready else 0.0), reason, None if ready else other

    async def _connected(self, connecting: "AbstractAsyncContextManager[ServerConnection]") -> None:
        """Connects, discovers, and waits until the connection is lost."""
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(self.server.entry.start_timeout):
                self._connection = connection = await stack.enter_async_context(connecting)
                await self._discover(connection)
            self._ready_at = asyncio.get_running_loop().time()
            self._was_ready = True
            if not self._lost:
                self._turned.set()
            self._settle()
            await self._until_lost(connection)

    def _other_way(self, era: Era, error: Exception) -> Era | None:
        """An older program may exit at the newer handshake; an older address provides an event stream."""
        if era != "auto":
            return None
        if isinstance(error, OlderTransport):
            return "sse" if not self.server.entry.type else None
        return "legacy" if self._lost and not self.server.entry.url else None

    async def _until_lost(self, connection: "ServerConnection") -> None:
        while not self._lost:
            await self._stirred.wait()
            self._stirred.clear()
            if not self._lost:
                await self._discover(connection)
                await asyncio.sleep(REFRESH_PAUSE)  # a server that constantly reports changes is only read now and then

    async def _discover(self, connection: "ServerConnection") -> None:
        self.offers = await connection.offers()
        wanted = [offer for offer in self.offers.tools if self.server.wants(offer.tool)]
        found, refused = await asyncio.to_thread(define, self.server.name, wanted)  # hostile schemas take a while
        self._pins.look(found)
        self._definitions = {definition.tool: definition for definition in found}
        self._context.registry.replace_server(self.server.name, [McpTool(self, definition) for definition in found])
        self._say("ready", refused=(*self.offers.malformed, *refused))

    def _forget(self) -> None:
        self._definitions = {}
        self.offers = Offers()
        self._context.registry.replace_server(self.server.name, ())

    def _say(self, state: State, reason: str = "", refused: tuple[Refusal, ...] = ()) -> None:
        unseen = tuple(d.name for d in self._definitions.values() if self._pins.unseen(d))
        self.status = Status(
            server=self.server.name,
            state=state,
            reason=make_safe(self._context.masker.text(reason), "label").text,
            tools=tuple(definition.name for definition in self._definitions.values()),
            refused=refused,
            unseen=unseen,
            prompts=len(self.offers.prompts),
            resources=len(self.offers.resources) + len(self.offers.templates),
        )
        self._announce(self.status)

    # --- what the connection tells ---

    def changed(self) -> None:
        self._stirred.set()

    def lost(self, reason: str) -> None:
        """From now on calls wait for the next connection."""
        self._lost = self._lost or reason
        self._connection = None
        self._turned.clear()
        self._stirred.set()

    def log_line(self, line: str) -> None:
        self.log.append(make_safe(self._context.masker.text(line[:1000]), "label").text)

    # --- what the tools need ---

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def trusted(self) -> bool:
        return self.server.entry.trust

    def current(self, tool: str) -> Definition | None:
        return self._definitions.get(tool)

    def definitions(self) -> list[Definition]:
        return list(self._definitions.values())

    def unseen(self, definition: Definition) -> str:
        return self._pins.unseen(definition)

    def accept(self, *definition: Definition) -> None:
        self._pins.accept(*definition)

    def lists(self, uri: str) -> bool:
        return any(resource.uri == uri for resource in self.offers.resources)

    def has_template_for(self, uri: str) -> bool:
        templates = self.offers.templates
        return bool(templates) and any(
            importlib.import_module("assent.mcp.server_connection").fills(uri, template.uri) for template in templates
        )

    def introduced(self) -> str:
        return f"A tool of the MCP server {self.name}"

    def command(self, tool: str) -> str:
        return ""

    def touched(self) -> Resources:
        return Resources()

    async def call(self, tool: str, args: JsonObject, call: McpCall) -> ToolResult:
        """Raises ToolFailed, also if the tool has changed by the time there is a connection."""
        meant = self.current(tool)

        async def send(connection: "ServerConnection") -> ToolResult:
            if self.current(tool) != meant:
                raise ToolFailed("mcp_tool_changed", "The tool changed just before it was called. Ask again.")
            return await connection.call(tool, args, call.progress, self._outputs.of(call.id))

        return await self._delivered(send)

    async def prompt(self, name: str, args: Mapping[str, str]) -> tuple[Part, ...]:
        return await self._delivered(lambda connection: connection.prompt(name, args))

    async def read(self, uri: str, call_id: str = "") -> tuple[Part, ...]:
        keep = self._outputs.of(call_id) if call_id else None
        return await self._delivered(lambda connection: connection.read(uri, keep))

    async def _delivered(self, send: "Callable[[ServerConnection], Awaitable[T]]") -> T:
        """Once more over a new connection, if the server never processed the request."""
        try:
            return await send(await self.connected())
        except Undelivered:
            pass
        try:
            return await send(await self.connected())
        except Undelivered as error:
            raise self._not_connected(str(error)) from error

    async def connected(self) -> "ServerConnection":
        """The connection, after waiting for one that is being made. Raises ToolFailed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.server.entry.start_timeout):
                await self._turned.wait()
        if self._connection is None:
            raise self._not_connected(self.status.reason or self.status.state)
        return self._connection

    def _not_connected(self, reason: str) -> ToolFailed:
        text = f"The server {self.name} is not connected: {make_safe(self._context.masker.text(reason), 'label').text}."
        return ToolFailed("mcp_not_connected", text)
