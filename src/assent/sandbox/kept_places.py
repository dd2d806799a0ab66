"""Undoes what no mount can prevent: places that must stay empty, and links that must stay as they are.

It runs outside the sandbox, after a command that may have left links anywhere. So it goes from one open folder to the
next, follows no link, and deletes nothing: what must not be there gets another name.
"""

import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from assent.files.openat import FOLDER
from assent.subpath import is_below

_ASIDE = ".removed-by-assent"


class KeptPlaces(Struct, frozen=True):
    folders: tuple[str, ...] = ()
    """What a command can change; these folders themselves it cannot move."""
    empty: tuple[str, ...] = ()
    """Nothing is there. No folder on the way is a link."""
    links: tuple[tuple[str, str], ...] = ()
    """Links, with their targets."""
    full: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Folders that must not get more entries than these."""

    def restore(self) -> list[str]:
        """Returns a sentence for each place that was not as it must be."""
        found = [_emptied(path, self.folders) for path in self.empty]
        found += [_linked(path, target, self.folders) for path, target in self.links]
        more = (path for folder, names in self.full for path in _more_in(folder, names, self.folders))
        found += [_emptied(path, self.folders, f"{_ASIDE}-{secrets.token_hex(8)}") for path in more]
        return [one for one in found if one]


def kept_places(
    folders: Sequence[str],
    absent: Iterable[str],
    special: Iterable[str],
    full: Iterable[tuple[str, tuple[str, ...]]] = (),
) -> KeptPlaces:
    """`absent` does not exist; of what is `special`, only links are kept: everything else is mounted."""
    real = {os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in absent}
    links = {path for path in special if os.path.islink(path) and is_below(path, folders)}
    return KeptPlaces(
        tuple(folders),
        tuple(sorted(path for path in real if is_below(path, folders) and not os.path.lexists(path))),
        tuple((path, os.readlink(path)) for path in sorted(links)),
        tuple((path, names) for path, names in full if is_below(path, folders)),
    )


def _more_in(folder: str, names: Sequence[str], folders: Sequence[str]) -> list[str]:
    """A link on the way there leads to the link."""
    some = os.path.join(folder, "HEAD")
    try:
        fd, name = _opened(some, folders)
    except OSError:
        return []
    try:
        return [os.path.join(folder, one) for one in os.listdir(fd) if one not in names] if name == "HEAD" else [some]
    finally:
        os.close(fd)


def _emptied(path: str, folders: Sequence[str], ending: str = _ASIDE) -> str:
    try:
        if (moved := _move_aside(path, folders, ending)) is None:
            return ""
    except OSError as error:
        return f"The command created {path}, which could not be removed ({error.strerror}): it decides what runs."
    return (
        f"The sandbox removed {path}, which the command had created: it decides which programs run, or what is allowed."
        f" It is now {moved}."
    )


def _linked(path: str, target: str, folders: Sequence[str]) -> str:
    with suppress(OSError):
        if os.readlink(path) == target and os.path.realpath(os.path.dirname(path)) == os.path.dirname(path):
            return ""
    try:
        _move_aside(path, folders)
        folder, name = _opened(path, folders)
        try:
            os.symlink(target, name, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        return f"The command replaced the link {path}, which could not be restored ({error.strerror})."
    return f"The sandbox restored the link {path}, which the command had replaced: it decides what runs."


def _move_aside(path: str, folders: Sequence[str], ending: str = _ASIDE) -> str | None:
    """Where it is now; None if nothing was there. A link on the way there is moved instead."""
    try:
        folder, name = _opened(path, folders)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        aside = f"{name}{ending}"
        while _is_there(folder, aside):
            aside = f"{name}{_ASIDE}-{secrets.token_hex(4)}"
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), aside)
    except FileNotFoundError:
        return None
    finally:
        os.close(folder)


def _opened(path: str, folders: Sequence[str]) -> tuple[int, str]:
    """The folder of the place, and its name there; or, if a link is on the way, that of the link. Raises OSError."""
    base = max((one for one in folders if is_below(path, [one])), key=len)
    *above, last = os.path.relpath(path, base).split(os.sep)
    fd = os.open(base, FOLDER)
    for name in above:
        try:
            if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                return fd, name
            below = os.open(name, FOLDER, dir_fd=fd)
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        fd = below
    return fd, last


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
