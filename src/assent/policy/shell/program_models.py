"""Program models: what the options and operands of a program do, read from TOML files next to this module.

A file describes one program or a family. Only the file of the program in question is read, once. A model is an
allow-list: an option that it does not list is unknown, and anything unknown needs approval. This module knows the
format, not the judgement.

Option lists are strings separated by spaces. In the `gnu` styles, `-abc` stands for three short options.
"""

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Effect = Literal["read", "write", "run", "network"]
Kind = Literal["program", "interpreter", "shell", "wrapper"]
# gnu: options anywhere, long ones may be abbreviated · exact: like gnu, but with full long names · first: options end
# at the first operand · words: `-name` is one option, as in find and go
Style = Literal["gnu", "exact", "first", "words"]
OptionUse = Literal["flag", "value", "optional", "read", "write", "change", "execute", "pair", "pair-read"]
Risk = Literal["low", "medium", "high"]

_FOLDER = Path(__file__).parent / "programs"
_FIELDS: tuple[tuple[str, OptionUse], ...] = (
    ("flags", "flag"),
    ("values", "value"),
    ("optional", "optional"),
    ("reads", "read"),
    ("writes", "write"),
    ("changes", "change"),
    ("executes", "execute"),
    ("pairs", "pair"),
    ("pair_reads", "pair-read"),
)


class Wrapper(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A program that runs the program in its operands. `trusted`: running it adds nothing to the payload."""

    payload: Literal["argv", "shell", "remote", "none"]
    skip: int = 0
    trusted: bool = False
    named: bool = False  # a rule that also names what it runs covers both: `npx tsc`
    assignments: bool = False
    contained: bool = False  # what it runs is isolated from this machine: a rule for the wrapper covers all of it
    feeds: bool = False  # adds words from its input, so the payload must be harmless with any option


class ProgramModel(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One program, or one of its sub-commands."""

    does: str = ""
    kind: Kind = "program"
    style: Style = "gnu"
    flags: str = ""
    values: str = ""
    optional: str = ""
    reads: str = ""
    writes: str = ""
    changes: str = ""
    executes: str = ""
    pairs: str = ""  # two values: `--arg NAME VALUE`
    pair_reads: str = ""  # a name and a file
    elsewhere: str = ""  # options that choose another cluster or account: to change something there, a rule names them
    operands: str = ""  # `runs` is a file that it executes: a rule that names one covers no other
    unless: str = ""  # with one of these options the first operand is missing
    numbers: bool = False  # `-5` is an option
    inert: bool = False  # no option executes or writes, so any word is harmless
    wild: bool = False  # a bare wildcard is fine: the runner never turns a file name into an option
    effect: Effect = "read"
    check: str = ""
    sub: dict[str, "ProgramModel"] = {}
    toolchain: bool = False  # `+nightly` may precede the sub-command
    bare: bool = True  # harmless without a sub-command
    same: str = ""
    uses: tuple[str, ...] = ()
    groups: dict[str, "ProgramModel"] = {}
    wrapper: Wrapper | None = None
    before: tuple[str, ...] = ()  # words inserted after the program name when it runs without approval
    after: tuple[str, ...] = ()  # words inserted after the sub-command
    env: dict[str, str] = {}
    risk: Risk | None = None
    because: str = ""


@cache
def _index() -> dict[str, str]:
    return msgspec.json.decode((_FOLDER / "index.json").read_bytes(), type=dict[str, str])


@cache
def family(name: str) -> dict[str, ProgramModel]:
    """All programs described in one file."""
    return msgspec.toml.decode((_FOLDER / f"{name}.toml").read_bytes(), type=dict[str, ProgramModel])


@cache
def model(program: str) -> ProgramModel | None:
    """The model of a program, by bare name."""
    file = _index().get(program)
    if file is None:
        return None
    found = family(file)[program]
    return model(found.same) if found.same else found


def family_of(program: str) -> str:
    """The file that describes a program; empty if none does."""
    return _index().get(program, "")


def names() -> list[str]:
    """Names of all programs with a model."""
    return sorted(_index())


@cache
def group_owner(program: str) -> dict[str, ProgramModel]:
    """The named option groups that the sub-commands of a program share."""
    found = model(program)
    return found.groups if found else {}


_tables: dict[tuple[str, ...], dict[str, OptionUse]] = {}


def options(path: tuple[str, ...], one: ProgramModel) -> dict[str, OptionUse]:
    """The option table of a model; `path` identifies it, such as ("git", "log")."""
    table = _tables.get(path)
    if table is None:
        table = _table(one)
        groups = group_owner(path[0])
        for name in one.uses:
            table = _table(groups[name]) | table
        _tables[path] = table
    return table


def _table(one: ProgramModel) -> dict[str, OptionUse]:
    table: dict[str, OptionUse] = {}
    for field, use in _FIELDS:
        for token in getattr(one, field).split():
            for option in _spread(token, one.style):
                table[option] = use
    return table


def _spread(token: str, style: Style) -> list[str]:
    if style == "words" or token.startswith("--"):
        return [token]
    return ["-" + letter for letter in token[1:]]
