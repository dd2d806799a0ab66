"""Filters file names in a pipe: those that must not be opened are left out.

`find … | xargs cat` passes names to a program that opens them. A name may be a link to a secret, or half of a name with
a line break in it. So each name is checked right then, and the rest is passed on, terminated by NULs, which no name can
contain. The caller says which names to leave out.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import IO

from msgspec import Struct

from assent.subpath import is_below

_CHUNK = 65_536
_WORD = re.compile(rb"""(?:[^ \t'"\\]+|\\.|'[^']*'|"[^"]*")+""", re.DOTALL)
_QUOTED = re.compile(rb"""\\(.)|'([^']*)'|"([^"]*)\"""", re.DOTALL)
_MORE_THAN_A_NAME = (b"-", b"@", b"+")  # `-x` is an option, `@x` a file of options; a name must only be a file
_MAX_LINE_LENGTH = 2_000_000
"""Bytes without a separator: no system accepts that many for a program."""


class UnreadableNames(ValueError):
    """`str(error)` says why the input cannot be read as names."""


class Sieve:
    """Whether a name may pass: not a secret, not a link to one, and not a link from inside the workspace to outside."""

    def __init__(self, secret: str, cwd: str, roots: Sequence[str], *, inside: bool) -> None:
        self._secret = re.compile(secret)
        self._cwd = cwd
        self._roots = [os.path.normpath(root) for root in roots]
        self._real_roots = [os.path.realpath(root) for root in roots]
        self._only_inside = inside
        self._real_folder = lru_cache(4096)(os.path.realpath)

    def keeps(self, name: str) -> bool:
        written = os.path.join(self._cwd, name)
        if _may_wait(written):
            return False
        path, real = os.path.normpath(written), self._real(written)
        if self._secret.search(path.casefold()) or self._secret.search(real.casefold()):
            return False
        leaves = not is_below(real, self._real_roots)
        return not (leaves and (self._only_inside or is_below(path, self._roots)))

    def _real(self, path: str) -> str:
        """Like `realpath`, but caches folders: names come by the thousand."""
        folder, last = os.path.split(path)
        if last in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        return os.path.join(self._real_folder(folder), last)


def _may_wait(path: str) -> bool:
    """Opening a pipe blocks until someone writes into it."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


class Sifted(Struct):
    dropped: int = 0
    problem: str = ""


def sift(source: IO[bytes], target: IO[bytes], kind: str, keeps: Callable[[str], bool]) -> Sifted:
    """Passes the names on until either end is closed; reports how many were left out, and what ended it early."""
    found = Sifted()
    try:
        with source, target:
            for name in _names(source, kind):
                if keeps(os.fsdecode(name)):
                    target.write((b"./" if name[:1] in _MORE_THAN_A_NAME else b"") + name + b"\0")
                else:
                    found.dropped += 1
    except UnreadableNames as error:
        found.problem = str(error)
    except (OSError, ValueError):
        return found  # the reader has seen enough
    return found


def _names(source: IO[bytes], kind: str) -> Iterator[bytes]:
    for one in _pieces(source, b"\0" if kind == "null" else b"\n"):
        match kind:
            case "words":
                yield from _words(one)
            case "lines":
                yield one.lstrip(b" \t")
            case _:
                yield one


def _words(line: bytes) -> Iterator[bytes]:
    """As xargs reads them: unlike in a shell, a backslash within quotes is literal."""
    if _WORD.sub(b"", line).strip(b" \t"):
        raise UnreadableNames(f"a quote is not closed in: {os.fsdecode(line[:200])}")
    for word in _WORD.finditer(line):
        yield _QUOTED.sub(lambda found: found[found.lastindex or 0], word[0])


def _pieces(source: IO[bytes], end: bytes) -> Iterator[bytes]:
    """The pieces between separators, without empty ones."""
    rest = b""
    while chunk := os.read(source.fileno(), _CHUNK):
        *whole, rest = (rest + chunk).split(end)
        yield from filter(None, whole)
        if len(rest) > _MAX_LINE_LENGTH:
            raise UnreadableNames(f"a line is longer than {_MAX_LINE_LENGTH:,} bytes")
    if rest:
        yield rest
