"""The host for sessions that a server runs: the same screen, attached from outside."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from assent.approval import Mode
from assent.front.tui.host import (
    MemoryFile,
    NamedPrompt,
    NotHere,
    RuleInfo,
    ServerInfo,
    ServerResource,
    ToolInfo,
)

if TYPE_CHECKING:  # imported when a session is opened, behind the first frame
    from assent.app.custom_commands import CustomCommand
    from assent.app.mcp_types import Prompt
    from assent.app.pricing import Prices
    from assent.app.session_log import SessionInfo
    from assent.client import Api, RemoteClient


class RemoteHost:
    def __init__(self, connect: "Callable[[], Api]", folder: str) -> None:
        """`folder` is where a new session works, on the server's machine."""
        self.folder = folder
        self.problems: Sequence[str] = ()
        """What of the server's custom commands could not be used there."""
        self._connect = connect
        self._api: Api | None = None
        self._session = ""

    @property
    def api(self) -> "Api":
        """For all that is not the open session: each session has a connection of its own."""
        if self._api is None:
            self._api = self._connect()
        return self._api

    async def open(self, session: str | None = None, mode: Mode | None = None) -> "RemoteClient":
        from assent.client import RemoteClient
        from assent.commands import SetMode

        if session is None:
            wanted = {"folder": self.folder} | ({"mode": mode} if mode is not None else {})
            self._session = (await self.api.create(**wanted))["id"]
        else:
            self._session = await self._find(self.api, session)
        client = await RemoteClient.open(self._connect(), self._session)
        self.folder = client.state.folder
        if mode is not None and client.state.mode != mode:
            await client.send(SetMode(mode, by=client.me))
        return client

    async def choose(self, session: str | None) -> str:
        """Before there is a screen: the session to open, made if it is to be a new one. Whatever keeps it from that is
        told in the shell, where it can be put right."""
        async with self._connect() as api:
            return (await api.create(folder=self.folder))["id"] if session is None else await self._find(api, session)

    async def _find(self, api: "Api", name: str) -> str:
        """A whole id, the start of one, or `latest`."""
        known: list[str] = [one["id"] for one in (await api.sessions())["sessions"]]
        if not known:
            raise NotHere("there is no session on this server yet; begin one with: assent attach --new")
        found = known[:1] if name == "latest" else [id for id in known if id.startswith(name)]
        if len(found) != 1:
            raise NotHere(f"{name!r} names no single session of this server")
        return found[0]

    async def sessions(self) -> "Sequence[SessionInfo]":
        from assent.app.session_log import SessionInfo

        listed = (await self.api.sessions())["sessions"]
        return [msgspec.convert(one | {"events": one["seq"]}, SessionInfo) for one in listed]

    async def fork(self, session: str) -> str:
        return (await self.api.fork(session))["id"]

    async def files(self) -> Sequence[str]:
        return await self.api.files(self._session, "", 100) if self._session else ()

    async def prompts(self) -> Sequence[str]:
        return ()

    async def branch(self) -> str:
        return ""

    def models(self) -> Sequence[str]:
        return ("gemini-2.5-pro", "gemini-2.5-flash")

    def prices(self) -> "Prices":
        from assent.app.pricing import Prices

        return Prices()

    def tools(self) -> Sequence[ToolInfo]:
        return ()

    def rules(self) -> Sequence[RuleInfo]:
        raise NotHere("The rules are on the server's machine: assent policy list, there.")

    def servers(self) -> Sequence[ServerInfo]:
        raise NotHere("MCP servers belong to the server's machine: assent mcp list, there.")

    def on_servers(self, changed: Callable[[], None]) -> None:
        pass  # they are the server's, and so is the word about them

    def server_prompts(self) -> "Sequence[Prompt]":
        return ()

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        raise NotHere("Prompts of MCP servers are used on the server's machine.")

    def server_resources(self) -> Sequence[ServerResource]:
        return ()

    def memory(self) -> Sequence[MemoryFile]:
        raise NotHere("Context files are on the server's machine.")

    def custom_commands(self) -> "Sequence[CustomCommand]":
        return ()  # the server fills its own

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        from assent.app.mcp_types import Argument

        listed = await self.api.prompts(self._session)
        self.problems = listed["problems"]
        return [
            NamedPrompt(one["name"], one["help"], one["usage"], msgspec.convert(one["arguments"], tuple[Argument, ...]))
            for one in listed["prompts"]
        ]

    async def use_prompt(self, name: str, argument: str) -> None:
        await self.api.use_prompt(self._session, name, argument)

    async def close(self) -> None:
        if self._api is not None:
            await self._api.close()
