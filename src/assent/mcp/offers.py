"""What a server offers besides tools: prompts that a person may use as commands, and resources to read."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from assent.mcp.definitions import Offer, Refusal

if TYPE_CHECKING:
    from assent.parts import Media, Text


class Argument(Struct, frozen=True):
    name: str
    needed: bool = False
    description: str = ""


class Prompt(Struct, frozen=True):
    server: str
    name: str
    description: str
    arguments: tuple[Argument, ...] = ()


class Resource(Struct, frozen=True):
    server: str
    uri: str
    name: str
    mime: str = ""


class Template(Struct, frozen=True):
    """Resources whose addresses have placeholders, in RFC 6570 syntax: `note:/{name}`."""

    server: str
    uri: str
    name: str
    mime: str = ""


class Offers(Struct, frozen=True):
    """In the server's own words; nothing is checked yet."""

    tools: tuple[Offer, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[Template, ...] = ()
    malformed: tuple[Refusal, ...] = ()
    """Items that could not be parsed and were dropped."""


class ServerStatus(Protocol):
    @property
    def server(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str:
        """Why it is not ready."""
        ...


class PromptServers(Protocol):
    """The prompts of MCP servers."""

    def prompts(self) -> Sequence[Prompt]: ...

    async def prompt(self, server: str, name: str, args: Mapping[str, str]) -> "tuple[Text | Media, ...]":
        """The text of a prompt, to be sent as the person's own. Raises NoSuchServer or ToolFailed."""
        ...

    def status(self) -> Sequence[ServerStatus]: ...

    async def settled(self) -> Sequence[ServerStatus]:
        """Wait until each server is ready or its first attempt has failed."""
        ...
