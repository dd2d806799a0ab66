"""`assent serve token`: who has access to the server. Lists tokens and logins, creates and revokes them."""

import argparse
import os
import sys
import time

import msgspec

from assent import exit_codes
from assent.app.identity import me
from assent.app.session_log import SessionLog
from assent.app.storage import open_log, shared_state
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.config import data_folder
from assent.front.web.access_tokens import ROLES, BadToken, TokenBook, TokenRecord
from assent.front.web.shared_tokens import open_tokens, open_uses
from assent.front.web.token_audit import token_entry
from assent.front.web.token_uses import TokenUse, TokenUses

EPILOG = """\
  assent serve token add NAME --role approver --days 30
                                                   create a token and print it; it cannot be shown again
  assent serve token list                          show all tokens and logins, with their ids
  assent serve token revoke ID | NAME              revoke one of them at once, also in open pages

A viewer reads. An approver also answers questions, once each. An operator can do everything.

--owner gives someone a list of sessions of their own: they do not see yours on the page or over the API, and you do
not see theirs. It does not isolate people from each other beyond that. All sessions run as the same user of this
machine, so an operator's sessions can read and change whatever you can, including Assent's own files. Give the
operator role only to people whom you would let use your account."""
_HEADS = ("ID", "KIND", "NAME", "ROLE", "OWNER", "CREATED", "EXPIRES", "LAST USED")


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    if args.action != "list" and not args.name:
        complain(f"give the {'name' if args.action == 'add' else 'id or name'}: assent serve token {args.action} NAME")
        return exit_codes.INPUT
    return run(_manage(args))


async def _manage(args: argparse.Namespace) -> int:
    data, log = data_folder(os.environ), open_log(os.environ, read_only=args.action == "list")
    try:
        shared = shared_state(log)
        records = None if shared is None else shared.records
        store = open_tokens(data, records)
        await store.refresh()
        match args.action:
            case "list":
                _list(store.records(), open_uses(data, records), as_json=args.json)
                return exit_codes.OK
            case "add":
                return await _add(store, log, args)
            case _:
                return await _revoke(store, log, args.name)
    finally:
        await log.close()


def _parser() -> Parser:
    parser = Parser("assent serve token", "Manages who has access to the server. Changes take effect at once.", EPILOG)
    add = parser.add_argument
    add("action", choices=("add", "list", "revoke", "remove"), help="remove is the same as revoke")
    add("name", nargs="?", metavar="NAME")
    add("--role", choices=ROLES, default="viewer", help="default: viewer")
    add("--owner", default="", metavar="WHO", help="give access to this owner's sessions instead of yours (see below)")
    add("--days", type=float, help="how long it is valid (default: until it is revoked)")
    add("--json", action="store_true", help="with list: print one JSON object per line")
    return parser


async def _add(store: TokenBook, log: SessionLog, args: argparse.Namespace) -> int:
    seconds = None if args.days is None else args.days * 86_400
    try:
        new = store.prepare(args.name, args.role, owner=args.owner, seconds=seconds)
        await log.audit.record(token_entry("token.created", new.record, me()))
        store.add(new.record)
        await store.settled()
    except BadToken as error:
        complain(str(error))
        return exit_codes.INPUT
    sys.stdout.write(f"{new.token}\n")
    return exit_codes.OK


async def _revoke(store: TokenBook, log: SessionLog, wanted: str) -> int:
    found = [record for record in store.records() if wanted == record.id]
    found = found or [record for record in store.records() if record.kind == "named" and record.name == wanted]
    if len(found) != 1:
        several = f"several tokens are named {wanted}; give the id of one: {', '.join(one.id for one in found)}"
        complain(several if found else f"there is no token {wanted}; `assent serve token list` shows all")
        return exit_codes.INPUT
    await log.audit.record(token_entry("token.revoked", found[0], me()))  # before it takes effect
    store.revoke(lambda record: record.id == found[0].id)
    await store.settled()
    sys.stdout.write("Revoked.\n")
    return exit_codes.OK


# --- the list ---


def _list(records: list[TokenRecord], uses: TokenUses, *, as_json: bool) -> None:
    if as_json:
        for record in records:
            sys.stdout.write(_json_line(record, uses.last(record.id)) + "\n")
        return
    if not records:
        sys.stdout.write("No tokens. Create one with: assent serve token add NAME\n")
        return
    rows = [_HEADS, *(_row(record, uses.last(record.id)) for record in records)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    for row in rows:
        sys.stdout.write("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() + "\n")


def _row(record: TokenRecord, use: TokenUse | None) -> tuple[str, ...]:
    created = "unknown" if record.created_at is None else _when(record.created_at)
    expires = "never" if record.expires_at is None else _when(record.expires_at)
    if record.kind == "local":
        expires = "with the server"
    used = "never" if use is None else f"{_when(use.at)} from {use.address}"
    names = (safe(record.name, "label"), record.role, safe(record.owner, "label") or "-")
    return (record.id, record.kind, *names, created, expires, used)


def _when(ts: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ts))


def _json_line(record: TokenRecord, use: TokenUse | None) -> str:
    shown = {
        "id": record.id,
        "kind": record.kind,
        "name": record.name,
        "role": record.role,
        "owner": record.owner,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "used_at": None if use is None else use.at,
        "used_from": "" if use is None else use.address,
    }
    return msgspec.json.encode(shown).decode()
