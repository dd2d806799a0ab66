"""What programs execute besides themselves, as data: their script, and the files of the project that they obey.

Read once from the TOML file next to this module. Lists are strings separated by spaces. Unlike a program model, this is
not an allow-list: it names what a person should know about, and knows no file.
"""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.lazy_pattern import lazy_pattern

_FILE = Path(__file__).with_name("obeyed_files.toml")
_VERSION = lazy_pattern(r"(?<=[a-z])-?\d[\d.]*$")


class Obeyed(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One program."""

    also: str = ""  # other programs that are the same in this respect
    only: str = ""  # one of these words must occur; without an entry, any words will do
    script: bool = False  # an operand is a script: the first one that is a file
    reach: int = 0  # how many operands may be the script; 0 means all
    inline: str = ""  # with one of these options the code is in the words, and no operand is a script
    endings: str = ""  # what the name of a script may lack
    modules: str = ""  # the value of these options is a module to run
    files: str = ""  # in its folder
    above: bool = False  # also in the folders above
    below: str = ""  # in its folder, but not in those above
    operands: bool = False  # operands are further folders to look in
    file_options: str = ""  # their value is such a file
    folder_options: str = ""  # their value is the folder to look in


def obeyed_by(program: str) -> tuple[Obeyed, ...]:
    """All entries for a program, by its bare name in lower case: `python3.12` is `python`."""
    return _index().get(program) or _index().get(_VERSION.sub("", program), ())


@cache
def _index() -> dict[str, tuple[Obeyed, ...]]:
    entries = msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, Obeyed])
    found: dict[str, tuple[Obeyed, ...]] = {}
    for name, entry in entries.items():
        for one in (name, *entry.also.split()):
            found[one.casefold()] = (*found.get(one.casefold(), ()), entry)
    return found
