"""Names of files on their way through a pipe: those that must not be opened are left out.

`find … | xargs cat` gives names to a program that opens them. A name may be a link to a secret, or half of a name with
a line break in it. So each name is looked at in this moment, and the rest goes on ended by NULs, which no name can
hold. Which names are left out is said by whoever starts it.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import IO

_CHUNK = 65_536


class Sieve:
    """Says whether a name may go on: no secret, no link to one, and no link from inside the workspace to outside."""

    def __init__(self, secret: str, cwd: str, roots: Sequence[str], *, inside: bool) -> None:
        self._secret = re.compile(secret)
        self._cwd = cwd
        self._roots = [os.path.normpath(root) for root in roots]
        self._real_roots = [os.path.realpath(root) for root in roots]
        self._only_inside = inside
        self._real_folder = lru_cache(4096)(os.path.realpath)

    def keeps(self, name: str) -> bool:
        full = os.path.join(self._cwd, name)
        path = os.path.normpath(full)
        real = os.path.realpath(full) if ".." in name else self._real(path)  # `link/..` is where the link leads
        if self._secret.search(path.casefold()) or self._secret.search(real.casefold()):
            return False
        leaves = not _below(real, self._real_roots)
        return not (leaves and (self._only_inside or _below(path, self._roots)))

    def _real(self, path: str) -> str:
        """As `realpath`, with what is known about the folder kept: names come by the thousand."""
        if os.path.islink(path):
            return os.path.realpath(path)
        return os.path.join(self._real_folder(os.path.dirname(path)), os.path.basename(path))


def sift(source: IO[bytes], target: IO[bytes], kind: str, keeps: Callable[[str], bool]) -> int:
    """Passes the names on until either end is closed; returns how many were left out."""
    dropped = 0
    try:
        with source, target:
            for name in _names(source, kind):
                if keeps(os.fsdecode(name)):
                    target.write(name + b"\0")
                else:
                    dropped += 1
    except (OSError, ValueError):
        return dropped  # the reader has seen enough
    return dropped


def _names(source: IO[bytes], kind: str) -> Iterator[bytes]:
    for one in _pieces(source, b"\0" if kind == "null" else b"\n"):
        match kind:
            case "words":
                yield from map(os.fsencode, shlex.split(os.fsdecode(one)))
            case "lines":
                yield one.lstrip(b" \t")
            case _:
                yield one


def _pieces(source: IO[bytes], end: bytes) -> Iterator[bytes]:
    """What stands between the ends, without empty pieces."""
    rest = b""
    while chunk := os.read(source.fileno(), _CHUNK):
        *whole, rest = (rest + chunk).split(end)
        yield from filter(None, whole)
    if rest:
        yield rest


def _below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
