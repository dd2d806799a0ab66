"""Says what is in a full copy of a workspace before a command changes it, and whether there is room for such a copy.

A copy holds everything, not only changes, so each place gets a stamp: a file whose stamp is still the same at the same
place was not touched, and need not be read. It copies nothing itself.
"""

import os
import stat
from collections.abc import Iterator

from assent.files.entries import Stamp, stamp_of

MAX_ENTRIES = 200_000
_SPARE = 256 << 20
"""Bytes that stay free on the disk."""

Stamps = dict[str, Stamp]


def why_not_copied(root: str, target: str) -> str:
    """Why there can be no copy of `root` on the disk of `target`; empty if there can."""
    disk = os.statvfs(target)
    room, size = disk.f_bavail * disk.f_frsize - _SPARE, 0
    for number, (_, found) in enumerate(_entries(root)):
        size += found.st_blocks * 512
        if number >= MAX_ENTRIES:
            return f"the workspace has more than {MAX_ENTRIES:,} files"
        if size > room:
            return "there is not enough free space on the disk"
    return ""


def stamps_of(root: str) -> Stamps:
    """Of everything below, by path relative to it."""
    skipped = len(root) + 1
    return {path[skipped:]: copied_stamp(found) for path, found in _entries(root)}


def copied_stamp(found: os.stat_result) -> Stamp:
    """A folder changes with its entries, which have stamps of their own: of itself, only the permissions matter."""
    return (found.st_ino, found.st_mode, 0) if stat.S_ISDIR(found.st_mode) else stamp_of(found)


def _entries(root: str) -> Iterator[tuple[str, os.stat_result]]:
    folders = [root]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    yield entry.path, entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue  # what nobody can open is not copied
