"""The options that `assent serve` and `assent work` share: which engine runs the sessions, and where they may work."""

import argparse
import os
from collections.abc import Mapping

from assent.cli.parsing import BadInput, Parser

LOG_HELP = "where sessions are stored: postgresql://… (default: ASSENT_LOG)"


def add_to(parser: Parser) -> None:
    parser.add_argument(
        "--engine",
        metavar="URL",
        default="",
        help="run sessions on workers: temporal://HOST:PORT/NAMESPACE; needs --store postgresql://…",
    )
    parser.add_argument(
        "--workspaces",
        action="append",
        default=[],
        metavar="FOLDER=HOST",
        help="which host has the folders below this one (repeatable; default: every worker has every folder)",
    )


def add_root(parser: Parser) -> None:
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="where sessions may work (default: your home folder and this one)",
    )


def chosen(args: argparse.Namespace, env: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The URL of the engine, empty for none, and which host has which folder."""
    from assent.app.storage import LOG_VARIABLE, SCHEMES

    if args.engine and not env.get(LOG_VARIABLE, "").startswith(SCHEMES):
        raise BadInput("--engine needs a log that all machines share: --store postgresql://…")
    return args.engine, tuple(map(_workspace, args.workspaces))


def _workspace(text: str) -> tuple[str, str]:
    folder, _, host = text.rpartition("=")
    if not os.path.isabs(folder) or not host:
        raise BadInput(f"--workspaces must be FOLDER=HOST with an absolute path, not {text!r}")
    return os.path.normpath(folder), host
