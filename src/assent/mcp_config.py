"""The MCP servers of a settings file: its `[mcp.servers.NAME]` entries, checked, as plain data.

It starts nothing and connects to nothing. An invalid entry is refused with its file and key.
"""

import re
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from assent.parts import JsonObject
from assent.plan import SandboxName

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?")
NAME_RULE = "a server name has 1 to 30 letters, digits and `-`, but no `_`"
"""No underscore: in `mcp_<server>_<tool>` it marks the end of the server's name."""
_HEADER = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VARIABLE = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"


class BadServer(ValueError):
    """An entry cannot be used; the message names the file, the key and what to write instead."""


class Servers(Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[mcp]`. Its entries are read one by one, so that an error can name its key."""

    servers: dict[str, JsonObject] = {}


class Entry(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an entry may contain. Either `command` (started by Assent, reached over its standard streams) or `url`."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """All it gets besides PATH, HOME and the like; `$NAME` is taken from Assent's own environment."""
    cwd: str = ""
    sandbox: SandboxName = "off"
    """What its program runs in; `[sandbox]` in the settings applies to commands."""
    domains: tuple[str, ...] = ()
    """In the sandbox `network`, the hosts that it may connect to; nobody is asked about others."""
    url: str = ""
    type: Literal["", "stdio", "http", "sse"] = ""
    """The transport. Only `sse`, the HTTP transport of the 2024 protocol, ever needs to be set; without a type it is
    tried when an address accepts no messages."""
    headers: dict[str, str] = {}
    """Values may use `$NAME`, so that a token need not be in the file."""
    timeout: float = 600
    """Seconds per call."""
    start_timeout: float = 30
    """Seconds within which it must answer and list its tools."""
    trust: bool = False
    """Its tools run without approval, as long as their definitions do not change."""
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    enabled: bool = True


class McpServer(Struct, frozen=True):
    name: str
    entry: Entry
    tier: Literal["user", "workspace"]
    place: str
    """Where it is defined: `file: mcp.servers.NAME`."""

    @property
    def identity(self) -> str:
        """Identifies the server: another command or address makes it another server."""
        entry = self.entry
        who = [self.name, self.tier, entry.command, entry.args, entry.cwd, entry.url]
        import hashlib  # here: it loads OpenSSL, which few readers of settings need

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
            raise BadServer(f"{place}: another server already has this name")
        found[name.lower()] = McpServer(name, _entry(table, place), tier, place)
    return tuple(found.values())


def _entry(table: JsonObject, place: str) -> Entry:
    try:
        entry = msgspec.convert(table, Entry)
    except msgspec.ValidationError as error:
        from assent.settings_words import plain

        what, _, key = str(error).partition(" - at `$")
        raise BadServer(f"{place}: {plain(what, key.rstrip('`').removeprefix('.'), Entry)}") from error
    if problem := _problem(entry):
        raise BadServer(f"{place}: {problem}")
    return entry


def _problem(entry: Entry) -> str:
    if bool(entry.command) == bool(entry.url):
        return "give either `command` (a program to start) or `url` (where it listens)"
    if entry.type and (entry.type == "stdio") != bool(entry.command):
        return '`type` must be "stdio" for a server with `command`, "http" or "sse" for one with `url`'
    if entry.url and entry.sandbox != "off":
        return "`sandbox` is for a program that Assent starts, not for a `url`"
    if entry.domains and entry.sandbox != "network":
        return '`domains` are only for a server with `sandbox = "network"`'
    if entry.timeout <= 0 or entry.start_timeout <= 0:
        return "`timeout` and `start_timeout` must be more than 0 seconds"
    if entry.url:
        return _url_problem(entry)
    if entry.headers:
        return "`headers` are only for a server with `url`"
    if any("\0" in text for text in (entry.command, entry.cwd, *entry.args, *entry.env, *entry.env.values())):
        return "a command cannot contain a NUL character"
    return next((f"`{name}` is not a valid variable name" for name in entry.env if not name or "=" in name), "")


def _url_problem(entry: Entry) -> str:
    from urllib.parse import urlsplit

    from assent.http.loopback import is_loopback

    if entry.args or entry.env or entry.cwd:
        return "`args`, `env` and `cwd` are only for a server with `command`"
    try:
        parts = urlsplit(entry.url)
        host = parts.hostname or ""
    except ValueError:
        return f"`url` is not a valid URL: {entry.url}"
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        return "`url` must be http:// or https:// with a host and without a user name; put tokens in `headers`"
    if parts.scheme == "http" and entry.headers and not is_loopback(host):
        return "`headers` would be sent unencrypted; use https://"
    bad = (n for n, v in entry.headers.items() if not re.fullmatch(_HEADER, n) or "\n" in v or "\r" in v or "\0" in v)
    return next((f"`{name}` is not a valid header" for name in bad), "")


class MissingVariable(ValueError):
    """An entry uses a variable that is not set."""


def expand(values: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Fills in `$NAME` and `${NAME}`; raises MissingVariable rather than sending an incomplete token."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in env:
            raise MissingVariable(f"the environment variable {name} is not set")
        return env[name]

    return {key: re.sub(_VARIABLE, value, text, flags=re.ASCII) for key, text in values.items()}
