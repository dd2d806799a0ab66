"""Grants: standing permissions that a person gave with an answer, proposed as narrowly as makes sense.

For commands, the shell gate says which words may be granted; it never proposes shells, interpreters or wrappers.
Protected files and suspicious addresses are never proposed: they need approval each time.
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from assent.approval import EditDetails, ExecDetails, Grant, GrantKind, InfoDetails, Lasts, McpDetails
from assent.policy.action import Action
from assent.policy.rules import EDIT_TOOLS, host_of
from assent.web.destinations import WEB_PORTS, from_url
from assent.web.destinations import covers as reaches
from assent.web.hosts import domain_matches

if TYPE_CHECKING:  # the shell gate is imported with the first command
    from assent.policy.shell.proposal import Scope

SESSION = "for this session"
EDITS = "edit"
"""The tool of a grant for all tools that edit files. A grant that names one of them, as given before there was this,
covers only that one.
"""


class Offered(Struct, frozen=True):
    """What a person may always allow, the narrowest first; or why nothing."""

    scopes: tuple[Grant, ...] = ()
    why_none: str = ""


NOTHING = Offered()


def covers(grant: Grant, action: Action) -> bool:
    """For everything but commands, whose grants are rules of the shell gate."""
    if grant.kind == "server":
        return bool(grant.value) and grant.value == action.server
    if grant.tool != action.tool and (grant.tool != EDITS or action.tool not in EDIT_TOOLS):
        return False
    match grant.kind, action.details:
        case "tool", McpDetails(server=server):
            return grant.value in ("", server)  # one tool may reach several servers
        case "tool", _:
            return True
        case "file", EditDetails(path=path, protected=""):
            return path == grant.value
        case "folder", EditDetails(path=path, protected="", runs=""):
            return path.startswith(grant.value.rstrip("/") + "/")
        case "domain", InfoDetails(urls=(url,), warnings=()) if (wanted := from_url(url)) is not None:
            return reaches(grant.value, wanted)
        case "domain", InfoDetails(urls=urls, warnings=()):
            return bool(urls) and all(domain_matches(f"={grant.value}", host_of(url)) for url in urls)
        case _:
            return False


def is_live(grant: Grant, now: float, uses: int) -> bool:
    expired = grant.expires_at is not None and now >= grant.expires_at
    return not expired and (grant.max_uses is None or uses < grant.max_uses)


def proposed(action: Action, call_id: str, *, keeps: bool = False) -> tuple[Grant, ...]:
    """The possible scopes of an "always" for this action, narrowest first. `keeps`: some may outlive the session."""
    scopes = _proposed(action, call_id)
    if not keeps:
        return scopes
    here = [_lasting(scope, "folder") for scope in scopes]
    anywhere = [_lasting(scope, "everywhere") for scope in scopes if _holds_anywhere(scope, action)]
    return (*scopes, *here, *anywhere)


def _holds_anywhere(scope: Grant, action: Action) -> bool:
    """Whether the same words mean the same in every folder: no file of a folder, no server that a folder may define,
    no command that executes files of the folder.
    """
    match action.details:
        case ExecDetails(command=command, directory=directory):
            from assent.policy.command_grants import depends_on_folder

            return bool(scope.prefixes) and not scope.exact and not depends_on_folder(command, directory)
        case InfoDetails():
            return scope.kind in ("domain", "tool")
        case _:
            return False


def _lasting(scope: Grant, lasts: Lasts) -> Grant:
    words = {"session": SESSION, "folder": "in this folder, from now on", "everywhere": "in every folder, from now on"}
    command = bool(scope.exact or scope.prefixes)
    reach = scope.reach.removesuffix(f", {SESSION}.")
    if command and lasts == "everywhere":
        reach, scope = reach.removesuffix(f", in {scope.value}"), replace(scope, value="")
    until = "from now on" if command and lasts == "folder" else words[lasts]
    return replace(scope, id=os.urandom(8).hex(), reach=f"{reach}, {until}.", lasts=lasts)


def _proposed(action: Action, call_id: str) -> tuple[Grant, ...]:
    match action.details:
        case ExecDetails(sandbox=sandbox, wider=True) as details:
            grants = _for_command(details.command, details.directory, action.tool, call_id)
            return () if sandbox == "off" else tuple(_widened(grant, details) for grant in grants)
        case ExecDetails(command=command, directory=directory):
            return tuple(_for_command(command, directory, action.tool, call_id))
        case InfoDetails(urls=(url,), warnings=()) if (wanted := from_url(url)) is not None:
            where = f"{wanted.host} (ports 80 and 443)" if wanted.port in WEB_PORTS else str(wanted)
            reach = f"Connections of commands to {where}, {SESSION}."
            return (_grant("domain", action.tool, reach, call_id, value=wanted.entry),)
        case EditDetails(path=path, protected=""):
            return _for_file(path, action.tool, call_id)
        case InfoDetails(urls=(), warnings=()) if not action.paths:  # neither a host nor a file to name: a search
            return (whole_tool(action, call_id),)
        case InfoDetails(urls=urls, warnings=()):
            return _for_urls(urls, action.tool, call_id)
        case McpDetails(server=server, tool=name, command=command):
            whose = "of this project" if command else f"of the server {server}"
            reach = f"Every call of {name} {whose}, {SESSION}."
            return _grant("tool", action.tool, reach, call_id, value=server), whole_server(action, call_id)
        case _:
            return ()


def _widened(grant: Grant, details: ExecDetails) -> Grant:
    """For a command that needs more than its sandbox allows: with exactly that."""
    more = [f"writing to {path}" for path in details.writable] + [f"connecting to {one}" for one in details.domains]
    if details.sandbox == "network" and not details.domains:
        more.append("connecting to hosts that you allow")
    reach = grant.reach.rpartition(", in ")
    return replace(
        grant,
        reach=f"{reach[0]}, also {' and '.join(more)}{reach[1]}{reach[2]}",
        sandbox=details.sandbox,
        domains=details.domains,
        writable=details.writable,
    )


def why_none(action: Action) -> str:
    """Why nothing can be proposed for this action; empty if that needs no words."""
    match action.details:
        case ExecDetails(sandbox="off", wider=True):
            return "running without the sandbox needs approval each time"
        case ExecDetails(command=command, directory=directory):
            from assent.policy.command_grants import why_no_choice

            return why_no_choice(command, directory)
        case EditDetails(protected=protected) if protected:
            return "changing a protected file needs approval each time"
        case InfoDetails(warnings=warnings, urls=urls):
            odd = "an address like this" if warnings else "requests to several hosts" if urls else "such a file"
            return f"{odd} need{'' if urls and not warnings else 's'} approval each time"
        case _:
            return ""


def whole_server(action: Action, call_id: str) -> Grant:
    reach = f"Every tool of the server {action.server}, {SESSION}."
    return _grant("server", action.tool, reach, call_id, value=action.server)


def whole_tool(action: Action, call_id: str) -> Grant:
    of = f" of the server {action.server}" if action.server else ""
    return _grant("tool", action.tool, f"Every call of {action.tool}{of}, {SESSION}.", call_id, value=action.server)


def _for_file(path: str, tool: str, call_id: str) -> tuple[Grant, ...]:
    """Whether a file is edited or written as a whole is the model's choice, and no difference for the person."""
    edits = tool in EDIT_TOOLS
    named, what = (EDITS, "Edits") if edits else (tool, f"Changes by {tool}")
    folder = os.path.dirname(path)
    reach = f"{what} below {folder}, except files that tools run, {SESSION}."
    return (
        _grant("file", named, f"{what} {'of' if edits else 'to'} {path}, {SESSION}.", call_id, value=path),
        _grant("folder", named, reach, call_id, value=folder),
    )


def _for_urls(urls: tuple[str, ...], tool: str, call_id: str) -> tuple[Grant, ...]:
    hosts = {host_of(url) for url in urls}
    if len(hosts) != 1 or "" in hosts:
        return ()
    host = hosts.pop()
    return (_grant("domain", tool, f"Requests by {tool} to {host}, {SESSION}.", call_id, value=host),)


def _for_command(command: str, directory: str, tool: str, call_id: str) -> Iterable[Grant]:
    """One scope that covers exactly this line, and one where each of its commands is as wide as makes sense."""
    from assent.policy.command_grants import choices, folder_of

    folder = folder_of(command, directory)
    for chosen in choices(command) if folder else ():
        exact, prefixes = _words(chosen, exact=True), _words(chosen, exact=False)
        kind, reach = _widest(chosen), _reach(chosen, folder)
        yield _grant(kind, tool, reach, call_id, value=folder, exact=exact, prefixes=prefixes)


def _widest(scopes: "list[Scope]") -> GrantKind:
    kinds = [scope.kind for scope in scopes]
    return "program" if "program" in kinds else "subcommand" if "subcommand" in kinds else "exact"


def _reach(scopes: "list[Scope]", directory: str) -> str:
    from assent.policy.shell.proposal import joined_reach

    return f"{joined_reach(scopes).removesuffix('.')}, in {directory}, {SESSION}."


def _words(scopes: "list[Scope]", *, exact: bool) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(scope.words for scope in scopes if (scope.kind == "exact") is exact))


def _grant(
    kind: GrantKind,
    tool: str,
    reach: str,
    call_id: str,
    *,
    value: str = "",
    exact: tuple[tuple[str, ...], ...] = (),
    prefixes: tuple[tuple[str, ...], ...] = (),
) -> Grant:
    return Grant(
        id=os.urandom(8).hex(),
        kind=kind,
        tool=tool,
        reach=reach,
        value=value,
        exact=exact,
        prefixes=prefixes,
        from_call=call_id,
    )
