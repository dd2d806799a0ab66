"""`assent trust`: shows a folder's configuration and trusts exactly what was shown."""

import argparse
import os
import sys
from pathlib import Path

from assent import exit_codes
from assent.app.folder_trust import content, problem
from assent.app.rule_sources import trust_store
from assent.app.storage import is_shared
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.cli.running import run
from assent.policy.trust import Trust, TrustStore

STATES = {
    "nothing": "it has no configuration, so there is nothing to trust",
    "untrusted": "not trusted; this is its configuration:",
    "changed": "changed since it was trusted; `!` marks the changes:",
    "trusted": "trusted as it is now",
}


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent trust",
        "Shows a folder's configuration (.assent/) and its context files (ASSENT.md, AGENTS.md, GEMINI.md, including\n"
        "those in the folders above and below), and trusts them as they are now.\n"
        "Until then, its rules can only make the policy stricter, its MCP servers are not started, and its\n"
        "context files are ignored. A file that changes later is no longer trusted.",
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER")
    parser.add_argument("--yes", action="store_true", help="trust what is shown without asking")
    parser.add_argument("--forget", action="store_true", help="stop trusting the folder")
    args = parser.parse_args(argv)
    folder = Path(os.path.realpath(args.folder))
    return run(_shared(args, folder)) if is_shared(os.environ) else _trust(args, folder)


async def _shared(args: argparse.Namespace, folder: Path) -> int:
    from assent.app.shared_state import opened_state

    async with opened_state(os.environ):
        return _trust(args, folder)


def _trust(args: argparse.Namespace, folder: Path) -> int:
    store = trust_store(os.environ)
    if args.forget:
        store.forget(folder)
        sys.stdout.write("No longer trusted.\n")
        return exit_codes.OK
    if not folder.is_dir():
        complain(f"{args.folder} is not a folder; give one that exists")
        return exit_codes.INPUT
    return _look(store, folder, yes=args.yes)


def _look(store: TrustStore, folder: Path, *, yes: bool) -> int:
    seen = store.look(folder)
    _show(folder, seen)
    if wrong := problem(os.environ, str(folder)):
        complain(wrong if seen.state == "trusted" else f"not trusted, because its settings are invalid: {wrong}")
        return exit_codes.CONFIG
    if seen.state in ("nothing", "trusted"):
        return exit_codes.OK
    if not (yes or _agrees()):
        complain("not trusted")
        return exit_codes.CANCELLED
    store.trust(folder, seen)
    sys.stdout.write("Trusted as it is now.\n")
    return exit_codes.OK


def _show(folder: Path, seen: Trust) -> None:
    sys.stdout.write(f"{safe(str(folder), 'label')}: {STATES[seen.state]}\n")
    for name in seen.files:
        mark = "!" if name in seen.changed or seen.state == "untrusted" else " "
        sys.stdout.write(f"{mark} {safe(name, 'label')}\n")
        if mark == "!":
            sys.stdout.write(_content(folder / name))


def _content(path: Path) -> str:
    return "".join(f"    {line}\n" for line in safe(content(path)).splitlines())


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stdout.write("Trust this? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
