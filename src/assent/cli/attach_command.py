"""`assent attach [URL] [SESSION]`: the terminal UI on a session that a server runs."""

import asyncio
import os
import shlex

from assent import exit_codes
from assent.cli.parsing import Parser, complain

UNKNOWN_TOKEN = "the server does not accept the token in ASSENT_TOKEN; create one there: assent serve token add NAME"


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent attach",
        "Opens the terminal UI on a session of `assent serve`: on your own server, or on another one by its URL.\n"
        "An answer given here closes the question everywhere else, and vice versa.\n"
        "For another server, set ASSENT_TOKEN to a token made there with `assent serve token add NAME`.",
    )
    parser.add_argument(
        "target",
        nargs="*",
        metavar="URL|SESSION",
        help="the server, the session, or both (default: yours, and its newest session)",
    )
    parser.add_argument("--new", action="store_true", help="start a new session there, in this folder")
    parser.add_argument(
        "--ca", metavar="FILE", help="CA certificates to trust (default: the system's, or SSL_CERT_FILE)"
    )
    args = parser.parse_args(argv)
    urls = [word for word in args.target if word.startswith(("http://", "https://"))]
    sessions = [word for word in args.target if word not in urls]
    if len(urls) > 1 or len(sessions) > 1:
        complain("give at most one URL and one session\nTry: assent attach --help")
        return exit_codes.INPUT
    return _attach(urls[0] if urls else None, None if args.new else (sessions or ["latest"])[0], args.ca)


def _attach(url: str | None, session: str | None, ca: str | None) -> int:
    from assent.client.api import Api, ApiProblem, NoServer, connect
    from assent.client.http_client import Unreachable
    from assent.config import load_settings
    from assent.front.tui.host import NotHere
    from assent.front.tui.remote_host import RemoteHost
    from assent.front.tui.terminal_app import show_terminal

    def reach() -> Api:
        return connect(url, os.environ.get("ASSENT_TOKEN"), ca)

    host = RemoteHost(reach, os.path.realpath(os.getcwd()))
    try:
        chosen = asyncio.run(host.choose(session))
    except (NoServer, ValueError, NotHere, ApiProblem, Unreachable) as error:
        unknown = isinstance(error, ApiProblem) and error.kind == "unauthenticated"
        complain(f"{UNKNOWN_TOKEN} ({error})" if unknown else str(error))
        return exit_codes.INPUT
    options = [f"--ca {shlex.quote(ca)}"] if ca else []
    terminal = load_settings(os.environ).terminal
    return show_terminal(
        host, session=chosen, terminal=terminal, again=" ".join(["assent attach", *options, *([url] if url else [])])
    )
