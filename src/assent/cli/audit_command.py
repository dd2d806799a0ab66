"""`assent audit list | show | export | verify | prune`: who decided what, in all sessions, and whether it is intact."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from assent import exit_codes
from assent.app.audit_access import (
    AuditEntry,
    AuditLog,
    AuditQuery,
    AuditRecord,
    ChainCheck,
    Checkpoint,
    Verified,
    all_records,
    check,
    decode_record,
    encode_record,
    head_text,
    prune,
    read_head,
)
from assent.app.identity import me
from assent.app.session_log import NoSuchSession
from assent.app.storage import open_log
from assent.app.wording import one_line
from assent.cli.parsing import Parser, at_least_one, complain
from assent.cli.running import run
from assent.config import load_settings

EPILOG = """\
  assent audit list --by bob --kind approval       what bob approved or refused, newest first
  assent audit show 2315                           everything about one record
  assent audit export > audit.jsonl                all records, one JSON object per line
  assent audit verify                              check that no record was changed, removed or moved
  assent audit verify --head 2315:9f86…            … and that a record noted earlier is still there
  assent audit verify audit.jsonl                  check an export
  assent audit prune                               remove records older than keep_days in [audit] in the settings

Each record contains the hash of the one before. `verify` prints the newest hash, the head: keep it elsewhere. Someone
who can write Assent's files could remove the newest records, or rewrite all of them. You notice that only if you keep
the head where they cannot change it. The server also writes the head to its log."""


UNREADABLE = "unreadable: someone changed it; `assent audit verify` checks all records"


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    return run(_main(args), ValueError)


def _parser() -> Parser:
    parser = Parser("assent audit", "Shows who decided what, in all sessions, including deleted ones.", EPILOG)
    add = parser.add_argument
    add("action", choices=("list", "show", "export", "verify", "prune"), nargs="?", default="list")
    add("target", nargs="?", metavar="ID|FILE", help="the record to show, or the export to verify")
    add("--session", default="", metavar="ID", help="only records of this session")
    add("--kind", default="", help="only records of this kind: approval, call, grant, mode, session, login, token, …")
    add("--by", default="", metavar="WHO", help="only what this person did")
    add("--limit", type=at_least_one, default=50, help="how many to list (default: 50)")
    add("--head", action="append", default=[], metavar="ID:HASH", help="with verify: a head that you noted earlier")
    return parser


async def _main(args: argparse.Namespace) -> int:
    if args.action == "verify" and args.target:
        return _report(_checked_file(args.target, list(map(read_head, args.head))))
    log = open_log(os.environ, read_only=args.action != "prune")
    try:
        return await _act(log.audit, args)
    finally:
        await log.close()


async def _act(audit: AuditLog, args: argparse.Namespace) -> int:
    match args.action:
        case "show":
            _write(_shown(await _find(audit, args.target or "")))
        case "export":
            async for record in all_records(audit):
                sys.stdout.write(encode_record(record).decode() + "\n")
        case "verify":
            return _report(await check(audit, list(map(read_head, args.head))))
        case "prune":
            return await _prune(audit)
        case _:
            query = AuditQuery(limit=args.limit, session=args.session, kind=args.kind, by=args.by)
            _write(_listed(await audit.find(query)))
    return exit_codes.OK


async def _find(audit: AuditLog, id: str) -> AuditRecord:
    found = await audit.read(int(id) - 1, 1) if id.isascii() and id.isdigit() else []
    if not found or str(found[0].id) != id:
        raise NoSuchSession(f"there is no record {id!r}; `assent audit list` shows the newest")
    return found[0]


async def _prune(audit: AuditLog) -> int:
    settings = load_settings(os.environ).audit
    if settings.keep_days is None:
        complain("records are kept forever; to prune older ones, set keep_days in [audit] in the settings")
        return exit_codes.INPUT
    sys.stdout.write(f"{await prune(audit, settings, me())} records removed.\n")
    return exit_codes.OK


# --- showing ---


def _listed(records: list[AuditRecord]) -> Iterator[str]:
    if not records:
        yield "No records."
    for record in records:
        said = f"{_when(record.entry.ts)}  {one_line(sentence(record.entry))}" if record.is_readable else UNREADABLE
        yield f"{record.id:>6}  {said}"


def sentence(entry: AuditEntry) -> str:
    who = entry.by or "someone"
    return f"{who} {_SENTENCES[entry.kind](entry)}"


def _answered(entry: AuditEntry) -> str:
    said = "refused" if entry.outcome == "cancel" else f"approved ({entry.outcome.replace('_', ' ')})"
    return f"{said} {entry.tool}: {entry.about}" + (f" ({entry.reason})" if entry.reason else "")


_SENTENCES: dict[str, Callable[[AuditEntry], str]] = {
    "session.created": lambda one: f"created a session in {one.about}",
    "session.deleted": lambda one: f"deleted the session {one.about or one.session}",
    "approval.answered": _answered,
    "call.allowed": lambda one: f"ran without asking, allowed by {one.outcome}: {one.tool} {one.about}",
    "grant.added": lambda one: f"allowed from now on: {one.about}",
    "grant.revoked": lambda one: f"revoked the permission {one.reference}",
    "mode.changed": lambda one: f"changed the mode to {one.outcome}",
    "login.succeeded": lambda one: f"logged in: {one.about}",
    "login.failed": lambda one: "failed to log in",
    "logout": lambda one: f"logged out: {one.about}",
    "token.created": lambda one: f"created a {one.about}",
    "token.revoked": lambda one: f"revoked a {one.about}",
    "server.started": lambda one: f"started the server at {one.about}",
    "server.stopped": lambda one: "stopped the server",
    "settings.reloaded": lambda one: "reloaded the settings",
    "audit.pruned": lambda one: f"pruned {one.about}",
}


def _shown(record: AuditRecord) -> Iterator[str]:
    yield f"record    {record.id}"
    fields: dict[str, Any] = msgspec.to_builtins(record.entry) if record.is_readable else {"data": UNREADABLE}
    for name, value in fields.items():
        yield f"{name:<9} {_when(value) if name == 'ts' else one_line(str(value))}"
    yield f"hash      {record.hash}"
    yield f"previous  {record.previous}"


def _when(ts: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ts))


def _write(lines: Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


# --- checking ---


def _checked_file(path: str, known: list[Checkpoint]) -> Verified:
    """An export may start after records that were pruned."""
    with open(path, "rb") as lines:
        records = map(decode_record, lines)
        first = next(records, None)
        if first is None:
            return ChainCheck(known=known).result()
        chain = ChainCheck(Checkpoint(first.id - 1, first.previous), known)
        chain.add(first)
        for record in records:
            chain.add(record)
    return chain.result()


def _report(found: Verified) -> int:
    for problem in found.problems:
        complain(problem)
    if found.problems:
        sys.stdout.write(f"{found.records} records, NOT intact.\n")
        return exit_codes.STORAGE
    sys.stdout.write(f"{found.records} records, intact.\n")
    if found.head.id:
        sys.stdout.write(f"head: {head_text(found.head)}\n")
    return exit_codes.OK
