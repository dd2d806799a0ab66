"""Which MCP servers there are: the entries `[mcp.servers.NAME]` of a settings file, checked, as plain data.

Ground floor: it starts nothing and dials nobody. A wrong entry is refused with its file and key.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from assent.parts import JsonObject

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?")
NAME_RULE = "the name of a server is 1 to 30 letters, digits and `-`, and no `_`"
"""No underscore: in `mcp_<server>_<tool>` it says where the server's name ends."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)


class BadServer(ValueError):
    """An entry that cannot be used; the message names the file, the key and what to write instead."""


class Servers(Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[mcp]`. The entries are read one by one, so that an error can name its key."""

    servers: dict[str, JsonObject] = {}


class Entry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an entry may say. Either `command` (we start it and talk over its input and output) or `url`."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """All that it gets besides PATH, HOME and the like; `$NAME` is taken from Assent's own environment."""
    cwd: str = ""
    url: str = ""
    type: Literal["", "stdio", "http", "sse"] = ""
    """How to talk to it. Only `sse`, the HTTP with an event stream of 2024, ever needs to be said; without a type it is
    tried when an address takes no messages."""
    headers: dict[str, str] = {}
    """Values may use `$NAME`, so that a token need not stand in the file."""
    timeout: float = 600
    """Seconds for one call."""
    start_timeout: float = 30
    """Seconds until it must have answered and told its tools."""
    trust: bool = False
    """Its tools run without a question, as long as they stay what they were."""
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    enabled: bool = True


class McpServer(Struct, frozen=True):
    name: str
    entry: Entry
    tier: Literal["user", "workspace"]
    place: str
    """Where it is written: `file: mcp.servers.NAME`."""

    @property
    def identity(self) -> str:
        """Who it is, whatever it is called: another command or address is another server."""
        entry = self.entry
        who = [self.name, self.tier, entry.command, entry.args, entry.cwd, entry.url]
        import hashlib  # here: it loads OpenSSL, and most who read settings never need it

        return hashlib.sha256(msgspec.json.encode(who)).hexdigest()

    def wants(self, tool: str) -> bool:
        included = self.entry.include_tools is None or tool in self.entry.include_tools
        return included and tool not in self.entry.exclude_tools


def read_servers(listed: Servers, path: str, tier: Literal["user", "workspace"]) -> tuple[McpServer, ...]:
    """Raises BadServer for the first entry that cannot be used."""
    found: dict[str, McpServer] = {}
    for name, table in listed.servers.items():
        place = f"{path}: mcp.servers.{name}"
        if NAME.fullmatch(name) is None:
            raise BadServer(f"{place}: {NAME_RULE}")
        if name.lower() in found:
            raise BadServer(f"{place}: there is another server of this name")
        found[name.lower()] = McpServer(name, _entry(table, place), tier, place)
    return tuple(found.values())


def _entry(table: JsonObject, place: str) -> Entry:
    try:
        entry = msgspec.convert(table, Entry)
    except msgspec.ValidationError as error:
        what, _, key = str(error).partition(" - at `$")  # `key` goes on where `place` ends: `.command`
        raise BadServer(f"{place}{key.rstrip('`')}: {what}") from error
    if problem := _problem(entry):
        raise BadServer(f"{place}: {problem}")
    return entry


def _problem(entry: Entry) -> str:
    if bool(entry.command) == bool(entry.url):
        return "give either `command` (a program to start) or `url` (where it listens)"
    if entry.type and (entry.type == "stdio") != bool(entry.command):
        return '`type` is "stdio" for a server with `command`, "http" or "sse" for one with `url`'
    if entry.timeout <= 0 or entry.start_timeout <= 0:
        return "`timeout` and `start_timeout` are seconds, more than 0"
    if entry.url:
        return _url_problem(entry)
    if entry.headers:
        return "`headers` belong to a server with `url`"
    if any("\0" in text for text in (entry.command, entry.cwd, *entry.args, *entry.env, *entry.env.values())):
        return "a command cannot contain a NUL character"
    return next((f"`{name}` is no name of a variable" for name in entry.env if not name or "=" in name), "")


def _url_problem(entry: Entry) -> str:
    from urllib.parse import urlsplit

    from assent.http.loopback import is_loopback

    if entry.args or entry.env or entry.cwd:
        return "`args`, `env` and `cwd` belong to a server with `command`"
    try:
        parts = urlsplit(entry.url)
        host = parts.hostname or ""
    except ValueError:
        return f"`url` cannot be read: {entry.url}"
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        return "`url` must be http:// or https:// with a host, and without a user name; tokens go into `headers`"
    if parts.scheme == "http" and entry.headers and not is_loopback(host):
        return "`headers` would travel unprotected; use https://"
    bad = (n for n, v in entry.headers.items() if not _HEADER.fullmatch(n) or "\n" in v or "\r" in v or "\0" in v)
    return next((f"`{name}` is no header that could be sent" for name in bad), "")


class MissingVariable(ValueError):
    """An entry uses a variable that is not set."""


def expand(values: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Fills in `$NAME` and `${NAME}`; raises MissingVariable rather than sending half a token."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in env:
            raise MissingVariable(f"the environment variable {name} is not set")
        return env[name]

    return {key: _VARIABLE.sub(value, text) for key, text in values.items()}
