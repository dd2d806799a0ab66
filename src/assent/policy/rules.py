"""Rules: what they say, what they match, how they are written. Deny beats ask beats allow, whoever wrote them.

A rule narrows by tool, MCP server, main argument, command words, domain, path and mode; everything it names must match.
Commands are special: a rule is about words, and the shell gate decides whether a command does only what they say.
Every session starts with this module; what only some rules need is imported by them.
"""

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from assent.approval import Details, ExecDetails, InfoDetails, Mode
from assent.plan import SandboxName
from assent.policy.action import Action
from assent.policy.globs import path_matches, text_matches

Ruling = Literal["allow", "ask", "deny"]
Tier = Literal["admin", "user", "workspace", "session", "built-in"]
_WHOLE_HOST = r"https?://[^/*?]+/"
"""The required start of a glob that allows addresses: `https://a.org*` would also match `https://a.org.evil.net`."""
_UPWARDS = r"(?:\.|%2e){2}"

_COMMANDS = "run_shell_command"
EDIT_TOOLS = ("write_file", "replace")
"""The tools that change files as the model wants; for a person, both edit."""
_SHOWING = ("read_many_files", "grep_search", _COMMANDS)
"""Tools that show file content, whatever their arguments."""

TIERS: tuple[Tier, ...] = ("admin", "user", "workspace", "session", "built-in")


class Rule(Struct, frozen=True, kw_only=True):
    """An empty narrowing field matches everything; `tool` may be `*`."""

    ruling: Ruling
    tool: str = "*"
    argument: str = ""
    """A glob over the tool's main argument; for a tool that runs commands, the first words of the command."""
    server: str = ""
    domain: str = ""
    message: str = ""
    """For a deny rule: what the model is told."""
    command: tuple[str, ...] = ()
    """The first words of a command."""
    path: str = ""
    """A glob. An allow rule requires that every file the call touches matches; for ask and deny, one is enough."""
    modes: tuple[Mode, ...] = ()
    priority: int = 500
    tier: Tier = "session"
    place: str = ""
    """Where it is written: `file:line`."""
    note: str = ""
    sandbox: SandboxName | None = None
    """For an allow rule about a command: what it runs in; chosen by what the command does, if not set."""
    domains: tuple[str, ...] = ()
    """For a command in the sandbox `network`: the hosts that it may connect to without asking."""
    writable: tuple[str, ...] = ()
    """For a command in a sandbox: what it may write to, besides the workspace."""
    without_effects: bool = False
    """It allows only commands that were tried and changed nothing."""
    contained: bool = False
    """It allows only commands that a sandbox contains, and they run in it."""

    def matches(self, action: Action, mode: Mode, roots: tuple[str, ...]) -> bool:
        """Whether everything but the command words matches; those are up to the shell gate."""
        return self.is_about(action, mode) and (not self.path or self._path_matches(action.paths, roots))

    def is_about(self, action: Action, mode: Mode) -> bool:
        """Everything that can be checked without looking at files. A command rule is about nothing else."""
        return (
            (not self.command or bool(self.argument) or isinstance(action.details, ExecDetails))
            and (
                text_matches(self.tool, action.tool)
                or self._keeps_content(action.tool)
                or self.keeps_unchanged(action.tool)
            )
            and (not self.modes or mode in self.modes)
            and (not self.server or text_matches(self.server, action.server))
            and (not self.domain or self._domain_matches(action))
            and (not self.argument or self._argument_matches(action))
            and (not self.without_effects or _had_no_effects(action))
            and (not self.contained or can_contain(action.details))
        )

    def _keeps_content(self, tool: str) -> bool:
        """What read_file must not read, a search or a command must not show either."""
        kept = bool(self.path) and self.ruling != "allow" and text_matches(self.tool, "read_file")
        return kept and tool in _SHOWING

    def keeps_unchanged(self, tool: str) -> bool:
        """What write_file or replace must not change, a command must not change either; it may read it."""
        about = self.path and self.ruling != "allow" and any(text_matches(self.tool, one) for one in EDIT_TOOLS)
        return bool(about) and tool == _COMMANDS and not text_matches(self.tool, tool) and not self._keeps_content(tool)

    def words(self) -> tuple[str, ...]:
        """The command words it covers; empty for a rule about whole tools."""
        return self.command or tuple(self.argument.split())

    def _argument_matches(self, action: Action) -> bool:
        match action.details:
            case ExecDetails():
                return True
            case InfoDetails(urls=urls) if urls and self.ruling == "allow":
                return bool(re.match(_WHOLE_HOST, self.argument)) and all(self._url_matches(url) for url in urls)
            case InfoDetails(urls=urls):
                return any(text_matches(self.argument, text) for text in (action.main, *urls))
            case _:
                return text_matches(self.argument, action.main)

    def _url_matches(self, url: str) -> bool:
        return text_matches(self.argument, url) and not re.search(_UPWARDS, url, re.IGNORECASE)

    def _domain_matches(self, action: Action) -> bool:
        """Allow requires that all URLs of the call match, the others any; a call without URLs never matches."""
        urls = action.details.urls if isinstance(action.details, InfoDetails) else ()
        return bool(urls) and self._enough(self._host_matches(url) for url in urls)

    def _host_matches(self, url: str) -> bool:
        """To allow a connection, the rule must also cover its port."""
        from assent.web.destinations import covers, from_url, port_of
        from assent.web.hosts import domain_matches

        found = from_url(url)
        if found is None or (self.ruling != "allow" and port_of(self.domain) is None):
            return domain_matches(self.domain, host_of(url))
        return covers(self.domain, found)

    def _path_matches(self, paths: tuple[str, ...], roots: tuple[str, ...]) -> bool:
        return bool(paths) and self._enough(self.guards(path, roots) for path in paths)

    def _enough(self, found: Iterable[bool]) -> bool:
        return all(found) if self.ruling == "allow" else any(found)

    def describe(self) -> str:
        """The rule in words: its decision, what it covers, and where it is written."""
        narrow = " ".join(self.words()) or self.domain or self.path or self.server
        what = f"{self.tool}({narrow})" if narrow else self.tool
        where = f" ({self.place})" if self.place else ""
        return f"the {self.tier} rule {self.ruling} {what}{where}"

    def order(self) -> tuple[int, int]:
        """Sort key that puts the rule to quote first at the front."""
        return TIERS.index(self.tier), -self.priority

    def guards(self, path: str, roots: tuple[str, ...]) -> bool:
        """Is the rule about this file, or this folder as a whole (`folder/`)?"""
        return _below(self.path, path, roots)

    def may_be_below(self, tree: str, roots: tuple[str, ...]) -> bool:
        """Could the rule cover something in this folder? If in doubt, yes."""
        fixed = [glob.partition("*")[0].partition("?")[0] for glob in _absolute(self.path, roots)]
        return any(start.startswith(tree) or tree.startswith(start) for start in fixed)


def _below(glob: str, path: str, roots: tuple[str, ...]) -> bool:
    """A glob that names a folder covers everything in it."""
    return any(path_matches(g, path) or path_matches(g.rstrip("/") + "/**", path) for g in _absolute(glob, roots))


def _absolute(glob: str, roots: tuple[str, ...]) -> list[str]:
    """A relative glob applies below each root."""
    plain = glob.removeprefix("./")
    return [plain] if plain.startswith("/") else [f"{root.rstrip('/')}/{plain}" for root in roots]


def host_of(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


# --- the short form of the command line ---

_ALLOWED_TOOL = r"([A-Za-z_][\w.*-]*)(?:\((.*)\))?"


class BadRule(ValueError):
    """A rule that cannot be parsed; the message says which, where, and how to write it."""


class BadFlag(BadRule):
    """The same for one that was given on the command line."""


def check_tool(tool: str, place: str, known: tuple[str, ...]) -> None:
    """A deny for a tool that does not exist would silently protect nothing."""
    if tool.startswith(("mcp_", "discovered_tool_")) or any(text_matches(tool, name) for name in known):
        return
    from rapidfuzz import process

    nearest = process.extractOne(tool, known, score_cutoff=70)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    raise BadRule(f"{place}: there is no tool {tool!r}{hint}")


def check_domains(domains: Iterable[str], place: str) -> None:
    """The entries of a list, which may name ports and hosts without a dot."""
    from assent.web.destinations import check_entry

    for entry in domains:
        if (why := check_entry(entry)) is not None:
            raise BadRule(
                f"{place}: {entry!r} is not a host to connect to ({why}); write example.org or example.org:22"
            )


def check_domain(domain: str, place: str) -> None:
    """A rule for something that is not a host, or for all of `com`, would silently match nothing."""
    from assent.web.hosts import BadHost, canonical_host

    try:
        host = canonical_host(domain.removeprefix("=").removeprefix("*."))
    except BadHost as error:
        raise BadRule(f"{place}: {domain!r} is not a domain ({error}); write a host, such as docs.python.org") from None
    if "." not in host and ":" not in host:
        raise BadRule(f"{place}: {domain!r} is not a domain; write a host with a dot in it, such as docs.python.org")


def parse_allowed(text: str) -> Rule:
    """`tool` or `tool(argument)`, as in `--allowed-tools "read_file,run_shell_command(git status)"`. For web_fetch the
    argument is a host, which includes its subdomains, or the start of an address with its full host.
    """
    from assent.policy.rule_words import why_never

    match = re.fullmatch(_ALLOWED_TOOL, text.strip(), re.DOTALL)
    if match is None:
        raise BadRule(f"cannot read the rule {text!r}: write `tool` or `tool(argument)`")
    tool, argument = match.group(1), match.group(2)
    if argument is not None and not argument.strip():
        raise BadRule(f"the rule {text!r} has empty parentheses: leave them out to allow every call of {tool}")
    if argument is None:
        return Rule(ruling="allow", tool=tool)
    if tool == "web_fetch" and not re.match(_WHOLE_HOST, argument):
        check_domain(argument.strip(), f"cannot read the rule {text!r}")
        return Rule(ruling="allow", tool=tool, domain=argument.strip())
    words = tuple(argument.split())
    if tool == _COMMANDS and (why := why_never(words)) is not None:
        raise BadRule(f"cannot read the rule {text!r}: the command {why}")
    return Rule(ruling="allow", tool=tool, argument=argument.strip() + "*", command=words)


def allowed_form(tool: str) -> str:
    """How `--allowed-tools` names the calls of a tool: a whole tool, but no more than some commands."""
    return f"{tool}(ITS FIRST WORDS)" if tool == _COMMANDS else tool


def split_allowed(text: str) -> list[str]:
    """Split a comma-separated list, ignoring commas inside parentheses."""
    parts, depth, current = list[str](), 0, ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [part.strip() for part in [*parts, current] if part.strip()]


def can_contain(details: Details | None) -> bool:
    """Whether a sandbox works that bounds what the command does, and it needs no more than that."""
    return isinstance(details, ExecDetails) and "workspace" not in details.no_sandbox and not details.wider


def _had_no_effects(action: Action) -> bool:
    """It was tried, to its end, and left the workspace as it was."""
    trial = action.details.trial if isinstance(action.details, ExecDetails) else None
    return trial is not None and not trial.effects and not trial.stale
