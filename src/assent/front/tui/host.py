"""What the terminal UI needs besides the session it shows: other sessions, files to complete, tools, rules, models.

A port: `local.py` serves it from this machine, and a served session from its server. What a host does not have it says
by raising `NotHere`, whose message is for the person.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # a port names its types and imports nothing that is slow
    from assent.app.custom_commands import CustomCommand
    from assent.app.mcp_types import Argument, Prompt
    from assent.app.pricing import Prices
    from assent.app.session_client import SessionClient
    from assent.app.session_log import SessionInfo
    from assent.approval import Mode

ServerState = Literal["connecting", "ready", "failed", "disconnected"]


class NotHere(Exception):
    """This cannot be had from here; the message says why, and what can be done instead."""


class ToolInfo(Struct, frozen=True):
    name: str
    display_name: str
    description: str
    kind: str
    server: str = ""
    """The MCP server it comes from; empty for built-ins."""


class RuleInfo(Struct, frozen=True):
    """A rule as people read it: what it does, and where it is written."""

    text: str
    decision: str
    source: str
    note: str = ""


class ServerInfo(Struct, frozen=True, kw_only=True):
    """An MCP server and how it is doing."""

    name: str
    state: ServerState
    tools: int = 0
    problem: str = ""
    prompts: int = 0
    resources: int = 0


class ServerResource(Struct, frozen=True):
    """Something to read that an MCP server offers; `mention` is how it is named after `@`."""

    server: str
    mention: str
    name: str


class NamedPrompt(Struct, frozen=True):
    """A prompt that whoever runs the session knows by its name, and fills itself."""

    name: str
    help: str
    usage: str = ""
    arguments: "tuple[Argument, ...]" = ()


class MemoryFile(Struct, frozen=True):
    """A context file that the model gets to see, or would, if its folder were trusted."""

    path: str
    size: int
    loaded: bool
    text: str = ""


class Host(Protocol):
    @property
    def folder(self) -> str: ...

    @property
    def problems(self) -> Sequence[str]:
        """What of the folder's configuration could not be used, and why."""
        ...

    async def open(self, session: str | None = None, mode: "Mode | None" = None) -> "SessionClient":
        """Opens that session, or makes a new one. The one before must be closed first if it is the same."""
        ...

    async def sessions(self) -> "Sequence[SessionInfo]":
        """The newest first."""
        ...

    async def fork(self, session: str) -> str: ...

    async def files(self) -> Sequence[str]:
        """Paths below the folder, for completion: relative, folders with a slash at the end, ignored ones left out."""
        ...

    async def prompts(self) -> Sequence[str]:
        """What was asked before in this folder, the oldest first: the history of the input."""
        ...

    async def branch(self) -> str:
        """The branch that is checked out; empty when there is none."""
        ...

    def models(self) -> Sequence[str]: ...

    def prices(self) -> "Prices": ...

    def tools(self) -> Sequence[ToolInfo]: ...

    def rules(self) -> Sequence[RuleInfo]: ...

    def servers(self) -> Sequence[ServerInfo]: ...

    def on_servers(self, changed: Callable[[], None]) -> None:
        """Calls it whenever the state of a server changes, in this session and in those that are opened later."""
        ...

    def server_prompts(self) -> "Sequence[Prompt]":
        """Those of the servers that are ready."""
        ...

    async def server_prompt(self, prompt: "Prompt", arguments: Mapping[str, str]) -> str:
        """Its text, from the server; raises NotHere when there is none."""
        ...

    def server_resources(self) -> Sequence[ServerResource]:
        """Those of the servers that are ready."""
        ...

    def memory(self) -> Sequence[MemoryFile]: ...

    def custom_commands(self) -> "Sequence[CustomCommand]":
        """The user's own, and the folder's when it is trusted."""
        ...

    async def named_prompts(self) -> Sequence[NamedPrompt]:
        """Those that this host fills itself, in the session that was opened last; custom commands and prompts of
        servers that are filled here are not among them."""
        ...

    async def use_prompt(self, name: str, argument: str) -> None:
        """Fills it and sends it; returns when it is sent."""
        ...

    async def close(self) -> None: ...
