"""What a server offers besides doing things: prompts that a person may use as commands, resources that may be read."""

from msgspec import Struct

from assent.mcp.definitions import Offer, Refusal


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
    """Resources whose addresses have a place to fill, as RFC 6570 writes it: `note:/{name}`."""

    server: str
    uri: str
    name: str
    mime: str = ""


class Offers(Struct, frozen=True):
    """In the server's own words; nothing of it is checked yet."""

    tools: tuple[Offer, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[Template, ...] = ()
    malformed: tuple[Refusal, ...] = ()
    """What could not even be read, and was dropped."""
