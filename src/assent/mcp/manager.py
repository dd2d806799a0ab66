"""All servers of a folder: started together in the background, closed together, and asked about by any front end."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping

from assent.files.private import PrivateFolder
from assent.mcp.keeper import Keeper, Status, pause_before
from assent.mcp.offers import Prompt, Resource, Template
from assent.mcp.pins import PinStore
from assent.mcp.resource_tools import LIST, READ, ListResourcesTool, ReadResourceTool
from assent.parts import Media, Text
from assent.secrets.mask import Masker
from assent.servers import McpServer
from assent.tools.base import ToolFailed
from assent.tools.registry import Registry

Listener = Callable[[Status], None]


class NoSuchServer(ValueError):
    """No server of this name is configured, or it is switched off."""


class McpManager:
    def __init__(
        self,
        servers: Iterable[McpServer],
        folder: str,
        registry: Registry,
        pins: PinStore,
        *,
        env: Mapping[str, str] = os.environ,
        pause: Callable[[int], float] = pause_before,
        masker: Masker | None = None,
        outputs: PrivateFolder | None = None,
    ) -> None:
        """`outputs` is where results go that are too long for the model."""
        self._listeners: list[Listener] = []
        self._registry = registry
        self._keepers = {
            server.name: Keeper(
                server,
                folder,
                registry,
                pins.of(server.identity),
                self._announce,
                env=env,
                pause=pause,
                masker=masker,
                outputs=outputs,
            )
            for server in servers
            if server.entry.enabled
        }
        registry.await_with(self._settled_for)

    # --- life ---

    def start(self) -> None:
        """Returns at once; the tools of a server appear when it is ready."""
        for keeper in self._keepers.values():
            keeper.start()

    async def settled(self) -> list[Status]:
        """Waits until each server is ready or its first attempt has failed, at most as long as its `start_timeout`."""
        return list(await asyncio.gather(*(keeper.settled() for keeper in self._keepers.values())))

    async def _settled_for(self, tool: str) -> None:
        for name, keeper in self._keepers.items():
            if tool.startswith(f"mcp_{name}_") or tool in (LIST, READ):
                await keeper.settled()

    async def reconnect(self, server: str) -> None:
        keeper = self._keeper(server)
        await keeper.stop()
        keeper.start()

    async def close(self) -> None:
        """When this returns, no program that we started is left."""
        await asyncio.gather(*(keeper.stop() for keeper in self._keepers.values()))

    # --- what there is ---

    def listen(self, listener: Listener) -> None:
        """Told of every change of every server's status; it must not wait."""
        self._listeners.append(listener)

    def status(self) -> list[Status]:
        return [keeper.status for keeper in self._keepers.values()]

    def log(self, server: str) -> list[str]:
        """The last lines that the server wrote besides its answers, made safe."""
        return list(self._keeper(server).log)

    def prompts(self) -> list[Prompt]:
        return [prompt for keeper in self._keepers.values() for prompt in keeper.offers.prompts]

    def resources(self) -> list[Resource]:
        return [resource for keeper in self._keepers.values() for resource in keeper.offers.resources]

    def templates(self) -> list[Template]:
        return [template for keeper in self._keepers.values() for template in keeper.offers.templates]

    def accept(self, server: str) -> list[str]:
        """The person has looked at the server's tools and takes them as they are now; names those that were news."""
        keeper = self._keeper(server)
        news = [d for d in keeper.definitions() if keeper.unseen(d)]
        keeper.accept(*news)
        return [definition.name for definition in news]

    # --- what a person may ask for ---

    async def prompt(self, server: str, name: str, args: Mapping[str, str]) -> tuple[Text | Media, ...]:
        """The text of a prompt, to be sent as the person's own. Raises NoSuchServer or ToolFailed."""
        return await self._keeper(server).prompt(name, args)

    # --- what the model may ask for ---

    def trusts(self, server: str) -> bool:
        return server in self._keepers and self._keepers[server].trusted

    def about(self, server: str, uri: str) -> str:
        """What the server says of a resource. Raises ToolFailed when it has no such resource, nor a template for it."""
        if server not in self._keepers:
            names = ", ".join(sorted(self._keepers))
            raise ToolFailed("mcp_resource_not_found", f"There is no MCP server {server!r}; there are: {names}.")
        keeper = self._keepers[server]
        if keeper.lists(uri):
            return next(resource.name for resource in keeper.offers.resources if resource.uri == uri)
        if keeper.has_template_for(uri):
            return "an address made from a template of the server's"
        raise ToolFailed("mcp_resource_not_found", f"The server {server} lists no such resource.")

    async def read_for(self, call_id: str, server: str, uri: str) -> tuple[Text | Media, ...]:
        return await self._keeper(server).read(uri, call_id)

    def _offer_resources(self) -> None:
        """The tools for resources are there as long as there are resources."""
        if not any(keeper.offers.resources or keeper.offers.templates for keeper in self._keepers.values()):
            self._registry.discard(LIST)
            self._registry.discard(READ)
        elif self._registry.get(READ) is None:
            self._registry.add(ListResourcesTool(self))
            self._registry.add(ReadResourceTool(self))

    # --- what a person names ---

    async def read(self, reference: str) -> tuple[Text | Media, ...]:
        """A resource, as `server:uri`, for what a person writes as `@server:uri`. Raises NoSuchServer or ToolFailed.

        Only one that the server lists, or, if it is trusted, has a template for: an address made up by somebody else
        could make it fetch anything.
        """
        server, found, uri = reference.partition(":")
        if not found or not uri:
            raise ToolFailed("mcp_resource_not_found", f"{reference!r} is no resource; write server:uri")
        keeper = self._keeper(server)
        await keeper.connected()
        if not keeper.lists(uri) and not (keeper.trusted and keeper.has_template_for(uri)):
            raise ToolFailed("mcp_resource_not_found", f"The server {server} lists no such resource.")
        return await keeper.read(uri)

    def has_resource(self, reference: str) -> bool:
        """Whether `@reference` means a resource of ours rather than a file."""
        server, found, _ = reference.partition(":")
        return bool(found) and server in self._keepers

    def _keeper(self, server: str) -> Keeper:
        if server not in self._keepers:
            raise NoSuchServer(f"there is no MCP server {server!r} here")
        return self._keepers[server]

    def _announce(self, status: Status) -> None:
        self._offer_resources()
        for listener in self._listeners:
            listener(status)
