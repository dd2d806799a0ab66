"""`assent serve`: serves sessions to browsers and scripts. `assent serve token`: manages access for others."""

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.cli.parsing import Parser, complain

if TYPE_CHECKING:  # imported only when needed
    from assent.front.web.web_server import Server

EPILOG = """\
  assent serve                                     serve this machine only, and print the address to open
  assent serve --host 0.0.0.0 --tls-cert C --tls-key K --name laptop.local --name 192.168.1.5
  assent serve --host 0.0.0.0 --behind-proxy https://assent.example.org
  assent serve token add NAME --role approver      create a token for somebody: viewer, approver or operator
  assent serve token list | revoke ID              show who has access, and end it

The API is described in docs/api.md and at /openapi.json."""


def main(argv: list[str]) -> int:
    if argv[:1] == ["token"]:
        from assent.cli import serve_tokens

        return serve_tokens.main(argv[1:])
    return _serve(_parser().parse_args(argv))


def _parser() -> Parser:
    parser = Parser("assent serve", "Runs sessions for browsers, scripts and other terminals.", EPILOG)
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    add("--port", type=int, default=8420, help="default: 8420; 0 picks a free port")
    add("--tls-cert", metavar="FILE", help="the certificate, with its chain")
    add("--tls-key", metavar="FILE")
    add("--name", action="append", default=[], help="a name or address that clients use (repeatable)")
    add("--behind-proxy", metavar="URL", help="a proxy on this machine handles TLS; clients use this URL")
    add(
        "--root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="where sessions may work (default: your home folder and this one)",
    )
    add(
        "--log",
        metavar="LOG",
        help="where sessions are stored: a folder, or postgresql://… (default: ASSENT_LOG, or the folder of Assent)",
    )
    add("--open", action=argparse.BooleanOptionalAction, default=False, help="open the browser")
    return parser


def _serve(args: argparse.Namespace) -> int:
    from assent.config import load_settings

    settings = load_settings(os.environ)
    from assent.app.identity import user
    from assent.app.session_log import LogError
    from assent.app.storage import LOG_VARIABLE
    from assent.front.web.request_limits import RequestLimits
    from assent.front.web.server_lock import AlreadyServed
    from assent.front.web.web_server import BadPlace, Where, make_setup, serve

    where = Where(
        host=args.host,
        port=args.port,
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        behind_proxy=args.behind_proxy,
        names=tuple(args.name),
    )
    env = dict(os.environ) | ({} if args.log is None else {LOG_VARIABLE: args.log})
    setup = make_setup(settings, env, user(), tuple(args.root), RequestLimits())
    try:
        asyncio.run(serve(where, setup, lambda server: _ready(server, browser=args.open)))
    except (BadPlace, AlreadyServed) as error:
        complain(str(error))
        return exit_codes.INPUT
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE
    return exit_codes.OK


def _ready(server: "Server", *, browser: bool) -> None:
    address = server.login_address()
    sys.stdout.write(f"Assent is at {address}\n(the code works once, within a minute; press Enter for a new one)\n")
    sys.stdout.flush()
    if browser:
        import webbrowser

        webbrowser.open(address)
    if sys.stdin.isatty():
        asyncio.get_running_loop().add_reader(sys.stdin, _print_again, server)


def _print_again(server: "Server") -> None:
    if sys.stdin.readline():
        sys.stdout.write(f"{server.login_address()}\n")
        sys.stdout.flush()
    else:
        asyncio.get_running_loop().remove_reader(sys.stdin)
