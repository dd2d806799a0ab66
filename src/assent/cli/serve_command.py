"""`assent serve`: serves sessions to browsers and scripts. `assent serve token`: manages access for others."""

import argparse
import asyncio
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.cli import engine_options
from assent.cli.parsing import Parser, complain

if TYPE_CHECKING:  # imported only when needed
    from collections.abc import Generator

    from assent.front.web.server_log import ServerLog
    from assent.front.web.web_server import Server, Where

LEVELS = ("debug", "info", "warning", "error", "off")
EPILOG = """\
  assent serve                                     serve this machine only, and print the address to open
  assent serve --host 0.0.0.0 --tls-cert C --tls-key K --name laptop.local --name 192.168.1.5
  assent serve --behind-proxy https://assent.example.org
  assent serve --store postgresql://… --engine temporal://…    leave running sessions to `assent work`
  assent serve login                               print a new address to open, while the server runs
  assent serve token add NAME --role approver      create a token for someone: viewer, approver or operator
  assent serve token list | revoke ID              show who has access, or revoke it

SIGHUP reloads the settings and the TLS certificate, and reopens the log file; running sessions keep their settings.

docs/api.md and /openapi.json describe the API; docs/operations.md says how to run it as a service."""


def main(argv: list[str]) -> int:
    if argv[:1] == ["token"]:
        from assent.cli import serve_tokens

        return serve_tokens.main(argv[1:])
    if argv[:1] == ["login"]:
        from assent.cli import serve_login

        return serve_login.main(argv[1:])
    return _serve(build_parser().parse_args(argv))


def build_parser() -> Parser:
    parser = Parser("assent serve", "Runs sessions for browsers, scripts and other terminals.", EPILOG)
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    add("--port", type=int, default=8420, help="default: 8420; 0 picks a free port")
    add("--tls-cert", metavar="FILE", help="the certificate, with its chain")
    add("--tls-key", metavar="FILE")
    add("--name", action="append", default=[], help="a name or address that clients use (repeatable)")
    add(
        "--behind-proxy",
        metavar="URL",
        help="a proxy on this machine handles TLS; clients use this URL, which may have a path: https://host/assent",
    )
    engine_options.add_root(parser)
    add(
        "--allow-model",
        action="append",
        default=[],
        metavar="PATTERN",
        help="model files that sessions may use, e.g. 'gguf:/srv/models/*' (default: only those in the settings)",
    )
    add("--open", action=argparse.BooleanOptionalAction, default=False, help="open the browser")
    _add_store(parser)
    engine_options.add_to(parser)
    _add_server_log(parser)
    return parser


def _add_store(parser: Parser) -> None:
    parser.add_argument_group("where sessions are stored").add_argument(
        "--store",
        "--log",
        metavar="FOLDER|URL",
        help="a folder, or postgresql://… (default: ASSENT_LOG, or Assent's data folder)",
    )


def _add_server_log(parser: Parser) -> None:
    add = parser.add_argument_group("the server's own log").add_argument
    add("--log-file", metavar="FILE", help="default: standard error")
    add("--log-level", choices=LEVELS, help="default: info; warning if the log goes to a terminal")
    add("--log-format", choices=("text", "json"), default="text", help="default: text")


def _serve(args: argparse.Namespace) -> int:
    from assent.config import load_settings

    settings = load_settings(os.environ)
    from assent.app.identity import user
    from assent.app.session_log import LogError
    from assent.app.storage import LOG_VARIABLE
    from assent.front.web.request_limits import RequestLimits
    from assent.front.web.server_lock import AlreadyServed
    from assent.front.web.web_server import BadPlace, make_setup, serve

    if args.store is not None and args.store.endswith((".log", ".txt", ".json")):
        complain(f"sessions are stored in a folder or a database, not in {args.store}; did you mean --log-file?")
        return exit_codes.INPUT
    env = dict(os.environ) | ({} if args.store is None else {LOG_VARIABLE: args.store})
    roots, models = tuple(args.root), tuple(args.allow_model)
    try:
        engine, workspaces = engine_options.chosen(args, env)
        setup = make_setup(settings, env, user(), roots, models, RequestLimits(), engine, workspaces)
        with _opened_log(args) as log:
            asyncio.run(serve(_where(args), setup, lambda server: _ready(server, browser=args.open), log))
    except (BadPlace, AlreadyServed) as error:
        complain(str(error))
        return exit_codes.INPUT
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE
    return exit_codes.OK


def _where(args: argparse.Namespace) -> "Where":
    from assent.front.web.web_server import Where

    return Where(
        host=args.host,
        port=args.port,
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        behind_proxy=args.behind_proxy,
        names=tuple(args.name),
    )


@contextmanager
def _opened_log(args: argparse.Namespace) -> "Generator[ServerLog]":
    from assent.app.private_files import LogFile
    from assent.app.secret_masking import export_masker
    from assent.config import Settings
    from assent.front.web.server_log import ServerLog, StandardError

    on_screen = args.log_file is None and sys.stderr.isatty()
    level = args.log_level or ("warning" if on_screen else "info")
    sink = StandardError() if args.log_file is None else LogFile(args.log_file)
    log = ServerLog(sink, args.log_format, level, export_masker(os.environ, Settings()).text)
    try:
        yield log
    finally:
        log.close()


def _ready(server: "Server", *, browser: bool) -> None:
    from assent.front.web.fresh_address import print_on_enter

    sys.stdout.write(_greeting(server))
    sys.stdout.flush()
    if browser:
        import webbrowser

        webbrowser.open(server.login_address())
    print_on_enter(server.login_address)


def _greeting(server: "Server") -> str:
    """It has a login code only on a terminal: in a journal, other people could read it, and it would have expired."""
    if not sys.stdout.isatty():
        return f"Assent is at {server.address}\n(to log in, run on this computer: assent serve login)\n"
    again = "press Enter for a new one" if sys.stdin.isatty() else "for a new one: assent serve login"
    return f"Assent is at {server.login_address()}\n(the code works once, within a minute; {again})\n"
