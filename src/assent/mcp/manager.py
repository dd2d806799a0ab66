"""All servers of a folder: started together in the background, closed together, and queried by any front end."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from assent.mcp.offers import Prompt, Resource, Template
from assent.mcp.pins import PinStore
from assent.mcp.resource_tools import LIST, READ, ListResourcesTool, ReadResourceTool
from assent.mcp.server_supervisor import ServerContext, ServerSupervisor, Status
from assent.mcp_config import McpServer
from assent.parts import Media, Text
from assent.tools.tool import ToolFailed

Listener = Callable[[Status], None]


class NoSuchServer(ValueError):
    """No server of this name is configured, or it is disabled."""


class McpManager:
    def __init__(self, servers: Iterable[McpServer], context: ServerContext, pins: PinStore) -> None:
        self._listeners: list[Listener] = []
        self._registry = context.registry
        self._supervisors = {
            server.name: ServerSupervisor(server, context, pins.of(server.identity), self._announce)
            for server in servers
            if server.entry.enabled
        }
        self._registry.await_with(self._settled_for)

    # --- lifecycle ---

    def start(self) -> None:
        """Returns at once; the tools of a server appear when it is ready."""
        for supervisor in self._supervisors.values():
            supervisor.start()

    async def settled(self) -> list[Status]:
        """Wait until each server is ready or its first attempt has failed, at most as long as its `start_timeout`."""
        return list(await asyncio.gather(*(supervisor.settled() for supervisor in self._supervisors.values())))

    async def _settled_for(self, tool: str) -> None:
        for name, supervisor in self._supervisors.items():
            if tool.startswith(f"mcp_{name}_") or tool in (LIST, READ):
                await supervisor.settled()

    async def reconnect(self, server: str) -> None:
        supervisor = self._supervisor(server)
        await supervisor.stop()
        supervisor.start()

    async def close(self) -> None:
        """When this returns, no program that we started is left."""
        await asyncio.gather(*(supervisor.stop() for supervisor in self._supervisors.values()))

    # --- what there is ---

    def listen(self, listener: Listener) -> None:
        """Called on every change of any server's status; it must not block."""
        self._listeners.append(listener)

    def status(self) -> list[Status]:
        return [supervisor.status for supervisor in self._supervisors.values()]

    def log(self, server: str) -> list[str]:
        """The last lines that the server logged, made safe."""
        return list(self._supervisor(server).log)

    def prompts(self) -> list[Prompt]:
        return [prompt for supervisor in self._supervisors.values() for prompt in supervisor.offers.prompts]

    def resources(self) -> list[Resource]:
        return [resource for supervisor in self._supervisors.values() for resource in supervisor.offers.resources]

    def templates(self) -> list[Template]:
        return [template for supervisor in self._supervisors.values() for template in supervisor.offers.templates]

    def accept(self, server: str) -> list[str]:
        """The person has looked at the server's tools and accepts them as they are now; returns those that were new or
        changed.
        """
        supervisor = self._supervisor(server)
        news = [d for d in supervisor.definitions() if supervisor.unseen(d)]
        supervisor.accept(*news)
        return [definition.name for definition in news]

    # --- what a person may ask for ---

    async def prompt(self, server: str, name: str, args: Mapping[str, str]) -> tuple[Text | Media, ...]:
        """The text of a prompt, to be sent as the person's own. Raises NoSuchServer or ToolFailed."""
        return await self._supervisor(server).prompt(name, args)

    # --- what the model may ask for ---

    def trusts(self, server: str) -> bool:
        return server in self._supervisors and self._supervisors[server].trusted

    def about(self, server: str, uri: str) -> str:
        """What the server says about a resource. Raises ToolFailed if it has neither such a resource nor a template for
        it.
        """
        if server not in self._supervisors:
            names = ", ".join(sorted(self._supervisors))
            raise ToolFailed("mcp_resource_not_found", f"There is no MCP server {server!r}; there are: {names}.")
        supervisor = self._supervisors[server]
        if supervisor.lists(uri):
            return next(resource.name for resource in supervisor.offers.resources if resource.uri == uri)
        if supervisor.has_template_for(uri):
            return "an address made from one of the server's templates"
        raise ToolFailed("mcp_resource_not_found", f"The server {server} lists no such resource.")

    async def read_for(self, call_id: str, server: str, uri: str) -> tuple[Text | Media, ...]:
        return await self._supervisor(server).read(uri, call_id)

    def _offer_resources(self) -> None:
        """The resource tools exist as long as there are resources."""
        if not any(
            supervisor.offers.resources or supervisor.offers.templates for supervisor in self._supervisors.values()
        ):
            self._registry.discard(LIST)
            self._registry.discard(READ)
        elif self._registry.get(READ) is None:
            self._registry.add(ListResourcesTool(self))
            self._registry.add(ReadResourceTool(self))

    # --- what a person names ---

    async def read(self, reference: str) -> tuple[Text | Media, ...]:
        """A resource, as `server:uri`, for what a person writes as `@server:uri`. Raises NoSuchServer or ToolFailed.

        Only one that the server lists, or, if it is trusted, has a template for: an address made up by someone else
        could make it fetch anything.
        """
        server, found, uri = reference.partition(":")
        if not found or not uri:
            raise ToolFailed("mcp_resource_not_found", f"{reference!r} is not a resource; write server:uri")
        supervisor = self._supervisor(server)
        await supervisor.connected()
        if not supervisor.lists(uri) and not (supervisor.trusted and supervisor.has_template_for(uri)):
            raise ToolFailed("mcp_resource_not_found", f"The server {server} lists no such resource.")
        return await supervisor.read(uri)

    def has_resource(self, reference: str) -> bool:
        """Whether `@reference` means one of our resources rather than a file."""
        server, found, _ = reference.partition(":")
        return bool(found) and server in self._supervisors

    def _supervisor(self, server: str) -> ServerSupervisor:
        if server not in self._supervisors:
            raise NoSuchServer(f"there is no MCP server {server!r} here")
        return self._supervisors[server]

    def _announce(self, status: Status) -> None:
        self._offer_resources()
        for listener in self._listeners:
            listener(status)
