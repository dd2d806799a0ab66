"""Turns a box into what Landlock allows, where bubblewrap cannot run: only for a profile that writes nothing.

Landlock allows whole trees and cannot exclude anything inside them. So what is allowed is everything beside the hidden
paths, folder by folder. Nothing in a tree that can be written could be protected in this way, so there is no weaker
version of the other profiles. Weaker than bubblewrap: the names of hidden files can be listed, and there is no folder
for temporary files.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence

from assent.process import landlock
from assent.process.launch import source_folder
from assent.process.spawn import Launcher
from assent.sandbox.boxes import Box, BoxProblem
from assent.sandbox.seccomp import seccomp_filter

MAX_RULES = 20_000
_START = "import sys; sys.path.insert(0, {!r}); from assent.process.landlock_start import main; main()"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
"""Programs insist on writing to them."""


def available() -> bool:
    """Without a right to truncate, files could be emptied; without a filter, hosts could be dialled."""
    return landlock.can_truncate() and bool(seccomp_filter())


def landlock_launcher(box: Box) -> Launcher:
    """Raises BoxProblem for a profile that writes, and if there is too much to list."""
    if box.profile.writes or box.profile.network:
        raise BoxProblem("Landlock can confine only commands that write nothing and need no network")
    hidden = [*box.hidden, *box.emptied]
    allowed = {"read": list(_beside(hidden)), "list": ["/"], "write": [one for one in _DEVICES if os.path.exists(one)]}
    start = (
        f"import sys; sys.path.insert(0, {source_folder()!r}); from assent.process.landlock_start import main; main()"
    )
    words = (sys.executable, "-I", "-S", "-c", start)
    filter_ = seccomp_filter(sockets=False, metadata=False)
    return Launcher(words, (json.dumps(allowed).encode(errors="surrogateescape"), filter_))


def _beside(hidden: Sequence[str], folder: str = "/") -> Iterator[str]:
    """The largest trees without a hidden path in them."""
    inside = [path for path in hidden if path == folder or path.startswith(folder.rstrip("/") + "/")]
    if not inside:
        yield folder
    elif folder not in inside:
        for name in _names(folder):
            yield from _beside(inside, os.path.join(folder, name))


def _names(folder: str) -> list[str]:
    """Without links: where they lead is a path of its own."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if not entry.is_symlink()]
    except OSError:
        return []
    if len(found) > MAX_RULES:
        raise BoxProblem(f"{folder} has too many entries to allow each of them")
    return found
