"""`assent log`: copies all sessions to another log and compares them event by event, or deletes old ones."""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.app.identity import me
from assent.app.log_migration import Copied, CopyProblem, copy_log
from assent.app.session_log import LogError, SessionLog
from assent.app.session_management import prune_sessions
from assent.app.storage import blob_store, open_log, open_log_at, shared_state
from assent.blob_store import BlobUnavailable
from assent.cli.parsing import BadInput, Parser, complain
from assent.config import data_folder, load_settings

if TYPE_CHECKING:
    from assent.app.state_migration import Moved

EPILOG = """\
  assent log migrate --to postgresql://assent@db.example.org/assent
  assent log migrate --from postgresql://assent@db.example.org/assent --to ~/sessions
  assent log prune --days 90

LOG is a folder, or the URL of a PostgreSQL database. Sessions that already exist in the target are compared and left
alone, so you can repeat an interrupted copy. Nothing is deleted. From a folder to a database, it also copies the
tokens, grants, trust, pins, outputs and contents for undo that are in the same folder. Afterwards, use the new log with
`assent serve --store` or ASSENT_LOG. Put a password into ~/.pgpass or PGPASSWORD rather than into the URL.

`prune` deletes the sessions of the log in use that have not changed for N days, except for those that are open
or have an unfinished turn. The audit keeps what was decided in them."""
SECONDS_PER_DAY = 86_400.0


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    try:
        _check(args)
        sys.stdout.write(asyncio.run(_prune(args.days) if args.action == "prune" else _migrate(args)))
    except CopyProblem as error:
        complain(str(error))
        return exit_codes.INPUT
    except (LogError, BlobUnavailable) as error:
        complain(str(error))
        return exit_codes.STORAGE
    return exit_codes.OK


def _parser() -> Parser:
    parser = Parser("assent log", "Copies sessions from one log to another, or deletes old ones.", EPILOG)
    parser.add_argument("action", choices=("migrate", "prune"))
    parser.add_argument("--from", dest="source", metavar="LOG", help="the log to copy (default: the one in use)")
    parser.add_argument("--to", metavar="LOG", help="the log to copy to")
    parser.add_argument("--days", type=float, metavar="N", help="with prune: delete what has not changed for N days")
    return parser


def _check(args: argparse.Namespace) -> None:
    if args.action == "migrate" and (args.to is None or args.days is not None):
        raise BadInput("migrate needs the log to copy to: --to LOG")
    if args.action == "prune" and (args.days is None or args.days <= 0 or args.source or args.to):
        raise BadInput("prune needs the age of what to delete, in days: --days N")


async def _prune(days: float) -> str:
    log = open_log(os.environ)
    try:
        deleted = await prune_sessions(os.environ, log, time.time() - days * SECONDS_PER_DAY, me())
    finally:
        await log.close()
    return f"Deleted {deleted} sessions.\n"


async def _migrate(args: argparse.Namespace) -> str:
    source = open_log(os.environ) if args.source is None else open_log_at(args.source)
    try:
        target = open_log_at(args.to)
        try:
            copied = await copy_log(source, target, _progress)
            return _summary(copied) + _rest(await _move_state(args, source, target))
        finally:
            await target.close()
    finally:
        await source.close()


async def _move_state(args: argparse.Namespace, source: SessionLog, target: SessionLog) -> "Moved | None":
    """Only from one machine to a cluster, because what nodes share has more than one owner. None otherwise."""
    shared = shared_state(target)
    if shared is None or shared_state(source) is not None:
        return None
    from assent.app.state_migration import copy_state

    blobs = blob_store(target, load_settings(os.environ).blobs, os.environ)
    assert blobs is not None
    data = data_folder(os.environ) if args.source is None else Path(os.path.expanduser(args.source))
    return await copy_state(data, target, shared.records, blobs)


def _rest(moved: "Moved | None") -> str:
    if moved is None:
        return (
            "Not copied: tokens, grants, trust and pins, whole outputs of commands, and contents for undo. They stay "
            "where they are.\n"
        )
    lost = f" {moved.skipped} files could not be read and were left out." if moved.skipped else ""
    records = f"{moved.records} tokens, grants, trusted folders, pins and approved files"
    left = "Not copied: push subscriptions (browsers subscribe again) and waiting trials.\n"
    return f"Copied {records}, and {moved.files} outputs and contents for undo.{lost}\n{left}"


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {of} sessions" + ("\n" if done == of else ""))
        sys.stderr.flush()


def _summary(copied: Copied) -> str:
    text = f"Copied {copied.sessions} sessions with {copied.events} events, and {copied.commands} waiting commands.\n"
    same = f"{copied.unchanged} sessions already existed.\n" if copied.unchanged else ""
    return text + same + "Every event was compared.\n"
