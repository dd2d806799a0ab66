"""`assent trust`: looks at the configuration of a folder and trusts exactly what was seen."""

import os
import sys
from pathlib import Path

from assent import exit_codes
from assent.app.rule_sources import trust_store
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.policy.trust import Trust, TrustStore
from assent.safe_open import open_regular

STATES = {
    "nothing": "it brings no configuration, so there is nothing to trust",
    "untrusted": "not trusted; this is what it brings:",
    "changed": "changed since it was trusted; `!` marks what is new:",
    "trusted": "trusted, as it is now",
}


def main(argv: list[str]) -> int:
    parser = Parser(
        "assent trust",
        "Shows the configuration that a folder brings (.assent/) and its context files (ASSENT.md, AGENTS.md,\n"
        "GEMINI.md, also those of the folders above and below), and trusts them as they are now.\n"
        "Until then its rules may only tighten, its MCP servers are not started and context files are left out;\n"
        "what changes is not trusted any more.",
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER")
    parser.add_argument("--yes", action="store_true", help="trust what is shown, without asking")
    parser.add_argument("--forget", action="store_true", help="trust the folder no longer")
    args = parser.parse_args(argv)
    folder = Path(os.path.realpath(args.folder))
    store = trust_store(os.environ)
    if args.forget:
        store.forget(folder)
        sys.stdout.write("Forgotten.\n")
        return exit_codes.OK
    if not folder.is_dir():
        complain(f"{args.folder} is no folder that can be looked at: name one that exists")
        return exit_codes.INPUT
    return _look(store, folder, yes=args.yes)


def _look(store: TrustStore, folder: Path, *, yes: bool) -> int:
    seen = store.look(folder)
    _show(folder, seen)
    if seen.state in ("nothing", "trusted"):
        return exit_codes.OK
    if not (yes or _agrees()):
        complain("not trusted")
        return exit_codes.CANCELLED
    store.trust(folder, seen)
    sys.stdout.write("Trusted, as it is now.\n")
    return exit_codes.OK


def _show(folder: Path, seen: Trust) -> None:
    sys.stdout.write(f"{safe(str(folder), 'label')}: {STATES[seen.state]}\n")
    for name in seen.files:
        mark = "!" if name in seen.changed or seen.state == "untrusted" else " "
        sys.stdout.write(f"{mark} {safe(name, 'label')}\n")
        if mark == "!":
            sys.stdout.write(_content(folder / name))


def _content(path: Path) -> str:
    try:
        with os.fdopen(open_regular(path, follow=False), "rb") as file:
            text = safe(file.read(20_000).decode(errors="replace"))
    except OSError:
        return "    (no plain file)\n"
    return "".join(f"    {line}\n" for line in text.splitlines())


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stdout.write("Trust this? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
