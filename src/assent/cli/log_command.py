"""`assent log migrate`: copies all sessions to another log, and compares them event by event."""

import argparse
import asyncio
import os
import sys

from assent import exit_codes
from assent.app.log_migration import Copied, CopyProblem, copy_log
from assent.app.session_log import LogError
from assent.app.storage import open_log, open_log_at
from assent.cli.parsing import Parser, complain

EPILOG = """\
  assent log migrate --to postgresql://assent@db.example.org/assent
  assent log migrate --from postgresql://assent@db.example.org/assent --to ~/sessions

LOG is a folder, or the URL of a PostgreSQL database. Sessions that already exist in the target are compared and left
alone, so you can repeat an interrupted copy. Nothing is deleted. Afterwards, use the new log with
`assent serve --store` or ASSENT_LOG. Put a password into ~/.pgpass or PGPASSWORD rather than into the URL."""


def main(argv: list[str]) -> int:
    parser = Parser("assent log", "Copies sessions from one log to another.", EPILOG)
    parser.add_argument("action", choices=("migrate",))
    parser.add_argument("--from", dest="source", metavar="LOG", help="the log to copy (default: the one in use)")
    parser.add_argument("--to", required=True, metavar="LOG", help="the log to copy to")
    args = parser.parse_args(argv)
    try:
        copied = asyncio.run(_migrate(args))
    except CopyProblem as error:
        complain(str(error))
        return exit_codes.INPUT
    except LogError as error:
        complain(str(error))
        return exit_codes.STORAGE
    sys.stdout.write(_summary(copied))
    return exit_codes.OK


async def _migrate(args: argparse.Namespace) -> Copied:
    source = open_log(os.environ) if args.source is None else open_log_at(args.source)
    try:
        target = open_log_at(args.to)
        try:
            return await copy_log(source, target, _progress)
        finally:
            await target.close()
    finally:
        await source.close()


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {of} sessions" + ("\n" if done == of else ""))
        sys.stderr.flush()


def _summary(copied: Copied) -> str:
    text = f"Copied {copied.sessions} sessions with {copied.events} events, and {copied.commands} waiting commands.\n"
    same = f"{copied.unchanged} sessions already existed.\n" if copied.unchanged else ""
    return text + same + "Every event was compared.\n"
