"""`assent login [PROVIDER]`: asks for a key, checks it with one request, and stores it."""

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.app.model_access import AuthFailed, ModelAccess, ModelError
from assent.app.wording import safe
from assent.cli.parsing import Parser, complain
from assent.config import load_settings

if TYPE_CHECKING:
    from assent.app.key_check import KeyTaker

EPILOG = """\
  assent login                   choose a provider from a list
  assent login anthropic         asks for the key without showing it
  pass show anthropic | assent login anthropic

The key goes into the system's keyring (pip install 'assent[keyring]'), or into a file that only you can read.
An environment variable such as ANTHROPIC_API_KEY takes precedence. `assent logout PROVIDER` removes it."""
PLACES = {
    "keyring": "Stored in the system's keyring.",
    "file": "Stored in {file}, which only you can read. (There is no keyring here that Assent can use.)",
}


def main(argv: list[str]) -> int:
    parser = Parser("assent login", "Stores the key of a model provider.", EPILOG)
    parser.add_argument("provider", nargs="?", metavar="PROVIDER")
    parser.add_argument("--no-check", action="store_true", help="store the key without checking it")
    args = parser.parse_args(argv)
    access = ModelAccess(os.environ, load_settings(os.environ))
    try:
        return _login(access, args.provider, check=not args.no_check)
    except ModelError as error:
        complain(str(error))
        return exit_codes.AUTH if isinstance(error, AuthFailed) else exit_codes.INPUT


def _login(access: ModelAccess, name: str | None, *, check: bool) -> int:
    from assent.app.key_check import find_key_taker, key_takers

    if name is None:
        name = _chosen(key_takers(access))
        if name is None:
            complain("say which provider: assent login PROVIDER\nTry: assent login --help")
            return exit_codes.INPUT
    taker = find_key_taker(access, name)
    key = _ask(taker)
    if not key:
        complain(f"no key given; nothing was stored{_unless_required(taker, '. ')}")
        return exit_codes.INPUT
    if check and not _checked(access, taker, key):
        return exit_codes.AUTH
    place = access.keys.store(taker.name, key)
    sys.stdout.write(PLACES[place].format(file=access.keys.file) + "\n")
    for note in _notes(access, taker):
        sys.stdout.write(f"{note}\n")
    return exit_codes.OK


def _chosen(takers: "Sequence[KeyTaker]") -> str | None:
    if not sys.stdin.isatty():
        return None
    for number, taker in enumerate(takers, start=1):
        sys.stdout.write(f"{number:>3}  {taker.name:<12} {taker.title}\n")
    sys.stdout.write("Which one? (number or name) ")
    sys.stdout.flush()
    wanted = sys.stdin.readline().strip()
    if wanted.isdecimal() and 1 <= int(wanted) <= len(takers):
        return takers[int(wanted) - 1].name
    return wanted or None


def _ask(taker: "KeyTaker") -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    import getpass

    advice = f"Get a key for {taker.title} at {taker.page}" if taker.page else _unless_required(taker)
    if advice:
        sys.stdout.write(f"{advice}\n")
        sys.stdout.flush()
    return getpass.getpass(f"Key for {taker.title} (not shown): ").strip()


def _unless_required(taker: "KeyTaker", before: str = "") -> str:
    return f"{before}{taker.title} needs no key unless its server asks for one." if taker.is_optional else ""


def _checked(access: ModelAccess, taker: "KeyTaker", key: str) -> bool:
    """Check the key, and report the problem if it is not accepted."""
    from assent.app.key_check import check_key

    try:
        models = asyncio.run(check_key(access, taker.name, key))
    except AuthFailed as error:
        complain(f"the provider did not accept the key, so it was not stored: {safe(str(error))}")
        return False
    except ModelError as error:
        complain(f"the key could not be checked, so it was not stored: {safe(str(error))}\n--no-check stores it anyway")
        return False
    match models:
        case None:
            sys.stdout.write(f"The key was not checked: {taker.title} has no cheap way to ask.\n")
        case 0:
            sys.stdout.write("The key works.\n")
        case count:
            sys.stdout.write(f"The key works: {taker.title} offers {count} model{'' if count == 1 else 's'}.\n")
    return True


def _notes(access: ModelAccess, taker: "KeyTaker") -> Sequence[str]:
    if taker.name in access.settings.keys:
        return (f"Note: [keys] in the settings has a key for {taker.name}, which takes precedence over this one.",)
    if taker.set_variable:
        return (f"Note: {taker.set_variable} is set in this shell and takes precedence over this key.",)
    return (f"Use it with: assent -m {taker.example} (`assent models {taker.name}` lists them)",)
