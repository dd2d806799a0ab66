"""Rules and the verdict: deny > ask > allow, and what no rule covers asks.

A rule names a tool, an MCP server or a domain, and may narrow by the tool's main argument. A shell command is matched
as a whole, word for word as written: a prefix of a shell command says nothing about what the rest of it does.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from assent.approval import Details, EditDetails, ExecDetails, Grant, InfoDetails, McpDetails, Mode
from assent.parts import JsonObject

Ruling = Literal["allow", "ask", "deny"]


class Action(Struct, frozen=True, gc=False):
    """What is judged: a checked call, with what it would do (None when it could harm nothing)."""

    tool: str
    args: JsonObject
    details: Details | None
    main: str = ""
    """The tool's main argument, e.g. the file or the command."""
    server: str = ""


class Rule(Struct, frozen=True):
    """`tool` may be `*`. An empty narrowing field matches everything."""

    ruling: Ruling
    tool: str = "*"
    argument: str = ""
    server: str = ""
    domain: str = ""
    message: str = ""
    """For a deny: what the model is told."""

    def matches(self, action: Action) -> bool:
        return (
            self.tool in ("*", action.tool)
            and (not self.server or self.server == action.server)
            and (not self.argument or _argument_matches(self.argument, action))
            and (not self.domain or _domain_matches(self.domain, action))
        )

    def words(self) -> str:
        narrow = self.argument or self.domain or self.server
        return f"{self.tool}({narrow})" if narrow else self.tool


class Verdict(Struct, frozen=True, gc=False):
    ruling: Ruling
    source: Literal["tool", "mode", "rule", "grant"]
    reason: str


class Policy:
    """Rules from the command line and settings, the grants of the session, and its mode."""

    def __init__(self, rules: Iterable[Rule] = (), mode: Mode = "default", grants: Iterable[Grant] = ()) -> None:
        self._rules: Sequence[Rule] = tuple(rules)
        self.mode: Mode = mode
        self._grants: list[Grant] = list(grants)

    def add_grant(self, grant: Grant) -> None:
        self._grants.append(grant)

    def judge(self, action: Action) -> Verdict:
        """Deny rules first, then ask rules; only then may a mode, a rule or a grant allow."""
        for ruling in ("deny", "ask"):
            rule = self._first(ruling, action)
            if rule is not None:
                return Verdict(ruling, "rule", rule.message or f"the rule {rule.words()} says {ruling}")
        return self._by_mode(action) or self._by_permission(action) or _ask(action)

    def _first(self, ruling: Ruling, action: Action) -> Rule | None:
        return next((rule for rule in self._rules if rule.ruling == ruling and rule.matches(action)), None)

    def _by_mode(self, action: Action) -> Verdict | None:
        match self.mode, action.details:
            case _, None:
                return Verdict("allow", "tool", "it only reads inside the workspace")
            case "plan", _:
                return Verdict("deny", "mode", "plan mode is read-only: describe the change instead of making it")
            case "yolo", _:
                return Verdict("allow", "mode", "yolo mode allows everything")
            case "auto_edit", EditDetails():
                return Verdict("allow", "mode", "auto_edit mode allows edits inside the workspace")
            case _:
                return None

    def _by_permission(self, action: Action) -> Verdict | None:
        rule = self._first("allow", action)
        if rule is not None:
            return Verdict("allow", "rule", f"the rule {rule.words()} allows it")
        grant = next((grant for grant in self._grants if covers(grant, action)), None)
        if grant is not None:
            return Verdict("allow", "grant", f"granted before: {grant.reach()}")
        return None


def _ask(action: Action) -> Verdict:
    match action.details:
        case EditDetails():
            reason = "changes to files are asked in this mode"
        case ExecDetails():
            reason = "no rule covers exactly this command"
        case InfoDetails():
            reason = "requests to the outside are asked in this mode"
        case McpDetails(server=server):
            reason = f"the server {server} is not trusted by any rule"
        case None:
            reason = "no rule covers it"
    return Verdict("ask", "rule", reason)


# --- grants ---


def covers(grant: Grant, action: Action) -> bool:
    match grant.kind:
        case "exact":
            return grant.tool == action.tool and grant.value == action.main
        case "file":
            return (
                grant.tool == action.tool
                and isinstance(action.details, EditDetails)
                and grant.value == action.details.path
            )
        case "tool":
            return grant.tool == action.tool
        case "server":
            return bool(grant.value) and grant.value == action.server
        case "domain":
            return grant.tool == action.tool and _domain_matches(grant.value, action)


def proposed_grant(action: Action, grant_id: str, call_id: str) -> Grant | None:
    """The narrowest standing permission that an "always" for this action means."""
    match action.details:
        case ExecDetails():
            return Grant(grant_id, "exact", action.tool, action.main, from_call=call_id)
        case EditDetails(path=path):
            return Grant(grant_id, "file", action.tool, path, from_call=call_id)
        case InfoDetails(urls=urls) if len(hosts := {_host(url) for url in urls}) == 1 and "" not in hosts:
            return Grant(grant_id, "domain", action.tool, hosts.pop(), from_call=call_id)
        case McpDetails():
            return Grant(grant_id, "tool", action.tool, from_call=call_id)
        case _:
            return None


# --- matching ---


def _argument_matches(argument: str, action: Action) -> bool:
    if isinstance(action.details, ExecDetails):
        return action.main == argument
    return action.main.startswith(argument)


def _domain_matches(domain: str, action: Action) -> bool:
    """Every URL of the call must be at the domain or below it; a call without URLs never matches."""
    urls = action.details.urls if isinstance(action.details, InfoDetails) else ()
    return bool(urls) and all(_below(domain.lower(), _host(url)) for url in urls)


def _below(domain: str, host: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return (urlsplit(url).hostname or "").lower().rstrip(".")


# --- text form ---

_ALLOWED_TOOL = re.compile(r"([A-Za-z_][\w.*-]*)(?:\((.*)\))?", re.DOTALL)


class BadRule(ValueError):
    """A rule that cannot be read; the message says which and how to write it."""


def parse_allowed(text: str) -> Rule:
    """`tool` or `tool(argument)`, as in `--allowed-tools "read_file,run_shell_command(git status)"`."""
    match = _ALLOWED_TOOL.fullmatch(text.strip())
    if match is None:
        raise BadRule(f"cannot read the rule {text!r}: write `tool` or `tool(argument)`")
    tool, argument = match.group(1), match.group(2)
    if argument is not None and not argument.strip():
        raise BadRule(f"the rule {text!r} has empty brackets: leave them out to allow every call of {tool}")
    return Rule("allow", tool, argument=(argument or "").strip())


def split_allowed(text: str) -> list[str]:
    """Splits a comma-separated list, leaving commas inside brackets alone."""
    parts, depth, current = list[str](), 0, ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [part.strip() for part in [*parts, current] if part.strip()]
