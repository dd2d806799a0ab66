"""A folder that stays the one that was checked, whatever happens to its name meanwhile."""

import os
import sys

from msgspec import Struct

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class Pinned(Struct, frozen=True):
    path: str
    """Leads to the open folder; on systems other than Linux, its name with links followed."""
    place: str
    """Its location when it was opened."""


def pin(path: str, opened: list[int]) -> Pinned:
    """Hold the folder open with a descriptor that is added to `opened`. Raises OSError."""
    if sys.platform != "linux":
        return Pinned(os.path.realpath(path), os.path.realpath(path))
    opened.append(os.open(path, _FOLDER))
    held = f"/proc/self/fd/{opened[-1]}"
    return Pinned(held, os.readlink(held))
