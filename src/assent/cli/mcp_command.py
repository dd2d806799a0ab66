"""`assent mcp`: shows the MCP servers configured here with their status and tools; adds and removes entries."""

import argparse
import os
import sys
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from assent import exit_codes
from assent.app.session_environment import SessionEnvironment, open_environment
from assent.app.storage import is_shared
from assent.app.wording import prompt_command, safe
from assent.cli.parsing import BadInput, Parser, complain
from assent.cli.running import run
from assent.config import load_settings, settings_file
from assent.mcp_config import NAME, NAME_RULE, McpServer
from assent.parts import JsonObject
from assent.safe_open import read_regular

if TYPE_CHECKING:  # imported only if there is a server
    from assent.app.mcp_types import McpManager, Prompt, Status, Template

PROJECT = "project_tools"
EPILOG = """\
  assent mcp list [NAME]                     connect, and show status, tools and problems
  assent mcp accept NAME                     accept a server's tools as they are now
  assent mcp add NAME [--env K=V] -- COMMAND ARG …
  assent mcp add NAME URL [--header "Authorization: Bearer $TOKEN"]
  assent mcp remove NAME"""


def main(argv: list[str]) -> int:
    words, command = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    args = _parser().parse_args(words)
    args.command = command
    return _act(args)


def _parser() -> Parser:
    parser = Parser("assent mcp", "Manages MCP servers (Model Context Protocol), which provide tools.", EPILOG)
    parser.add_argument("action", nargs="?", choices=("list", "accept", "add", "remove"), default="list")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("url", nargs="?", metavar="URL")
    parser.add_argument(
        "--env", action="append", default=[], metavar="K=V", help="an environment variable for the program"
    )
    parser.add_argument("--header", action="append", default=[], metavar="K: V", help="a header for every request")
    parser.add_argument("--cwd", metavar="FOLDER", help="the program's working folder; `.` is the one you work in")
    parser.add_argument("--type", choices=("http", "sse"), help="the transport of the URL, if it cannot be detected")
    parser.add_argument("--trust", action="store_true", help="run its tools without approval")
    return parser


def _act(args: argparse.Namespace) -> int:
    if args.action == "list":
        return run(_with_shared_pins(_list(args.name)))
    if args.name is None:
        complain(f"give the NAME of a server\nTry: assent mcp {args.action} NAME")
        return exit_codes.INPUT
    match args.action:
        case "accept":
            return run(_with_shared_pins(_accept(args.name)))
        case "add":
            return _add(args)
        case _:
            return _remove(args.name)


async def _with_shared_pins(work: Coroutine[Any, Any, int]) -> int:
    """In a cluster, what was accepted is in the database."""
    if not is_shared(os.environ):
        return await work
    from assent.app.shared_state import opened_state

    async with opened_state(os.environ):
        return await work


# --- listing ---


def _environment(name: str | None) -> SessionEnvironment:
    environment = open_environment(os.environ, os.path.realpath(os.getcwd()), load_settings(os.environ))
    if name is not None:
        environment.commands = environment.commands if name == PROJECT else None
        environment.servers = tuple(server for server in environment.servers if server.name == name)
        if not environment.servers and environment.commands is None:
            raise BadInput(f"there is no MCP server {name!r} here")
    return environment


async def _list(name: str | None) -> int:
    environment = _environment(name)
    for problem in environment.problems:
        complain(problem)
    if not environment.servers and environment.commands is None:
        sys.stdout.write("No MCP servers. Add one with `assent mcp add NAME -- COMMAND`.\n")
        return exit_codes.OK
    async with environment:
        settled = {status.server: status for status in await environment.settled()}
        if environment.project is not None:
            sys.stdout.writelines(f"{line}\n" for line in _project_lines(environment.project.status, environment))
        for server in environment.servers:
            assert environment.mcp is not None
            for line in _lines(server, settled.get(server.name), environment, environment.mcp):
                sys.stdout.write(line + "\n")
    return exit_codes.OK if all(status.state == "ready" for status in settled.values()) else exit_codes.ERROR


def _lines(
    server: McpServer, status: "Status | None", environment: SessionEnvironment, manager: "McpManager"
) -> Iterator[str]:
    trust = ", trusted" if server.entry.trust else ""
    if status is None:
        yield f"{server.name}  disabled ({server.tier}{trust})"
        return
    yield f"{server.name}  {status.state} ({server.tier}{trust}){f': {status.reason}' if status.reason else ''}"
    yield from _tool_lines(status, environment)
    yield from (f"  {_prompt_line(p)}" for p in manager.prompts() if p.server == server.name)
    yield from (f"  @{server.name}:{safe(r.uri, 'label')}" for r in manager.resources() if r.server == server.name)
    yield from (f"  @{server.name}:{safe(t.uri, 'label')}  {t.name}" for t in manager.templates() if _is_of(t, server))


def _project_lines(status: "Status", environment: SessionEnvironment) -> Iterator[str]:
    """The tools of the project's own command, listed alongside those of the servers."""
    assert environment.commands is not None
    place = safe(environment.commands.place, "label")
    yield f"{PROJECT}  {status.state} ({place}){f': {status.reason}' if status.reason else ''}"
    yield from _tool_lines(status, environment)


def _tool_lines(status: "Status", environment: SessionEnvironment) -> Iterator[str]:
    for name in status.tools:
        tool = environment.registry.get(name)
        news = " (new or changed: needs approval)" if name in status.unseen else ""
        own_words = tool.description.partition(": ")[2] if tool else ""  # without our introduction for the model
        yield f"  {name}{news}  {safe(own_words, 'label')}"
    yield from (f"  ! {safe(refusal.tool, 'label')} is refused: {refusal.reason}" for refusal in status.refused)


def _is_of(template: "Template", server: McpServer) -> bool:
    return template.server == server.name


def _prompt_line(prompt: "Prompt") -> str:
    return f"/{prompt_command(prompt.server, prompt.name)}  {prompt.description}"


async def _accept(name: str) -> int:
    async with _environment(name) as environment:
        (status,) = await environment.settled()
        if status.state != "ready":
            complain(f"{name}: {status.reason or status.state}")
            return exit_codes.ERROR
        news = environment.accept(name)
    sys.stdout.write(f"Accepted: {', '.join(news)}\n" if news else "Nothing has changed.\n")
    return exit_codes.OK


# --- the user's settings file ---


def _add(args: argparse.Namespace) -> int:
    if bool(args.url) == bool(args.command):
        complain("give either a URL, or `--` and a command with its arguments")
        return exit_codes.INPUT
    if NAME.fullmatch(args.name) is None:
        complain(f"{args.name!r} is not a valid server name: {NAME_RULE}")
        return exit_codes.INPUT
    from assent.app.server_entries import WrongName, with_server

    path = settings_file(os.environ)
    try:
        changed = with_server(_text(), path, args.name, _entry(args))
    except WrongName as error:
        raise BadInput(str(error)) from error
    _save(changed)
    sys.stdout.write(f"Added to {path}. To check it: assent mcp list {args.name}\n")
    return exit_codes.OK


def _entry(args: argparse.Namespace) -> JsonObject:
    entry: JsonObject = {"url": args.url} if args.url else {"command": args.command[0], "args": args.command[1:]}
    entry["env"] = dict(_pair(text, "=") for text in args.env)
    entry["headers"] = dict(_pair(text, ":") for text in args.header)
    entry |= {"cwd": args.cwd, "type": args.type, "trust": args.trust}
    return {key: value for key, value in entry.items() if value}


def _pair(text: str, sign: str) -> tuple[str, str]:
    name, found, value = text.partition(sign)
    if not found:
        raise BadInput(f"{text!r} has no `{sign}` between name and value")
    return name.strip(), value.strip()


def _remove(name: str) -> int:
    from assent.app.server_entries import WrongName, without_server

    try:
        changed = without_server(_text(), settings_file(os.environ), name)
    except WrongName as error:
        raise BadInput(str(error)) from error
    _save(changed)
    sys.stdout.write("Removed.\n")
    return exit_codes.OK


def _text() -> str:
    try:
        return read_regular(settings_file(os.environ)).decode()
    except FileNotFoundError:
        return ""


def _save(text: str) -> None:
    from assent.app.private_files import save_private

    save_private(settings_file(os.environ).resolve(), text.encode())
