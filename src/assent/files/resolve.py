"""Resolves the text of a path to where it really leads: a walk, name by name, that reads every link itself.

A link to something that does not exist counts as its target. Nothing is decoded (`%2e` is three characters), nothing is
compared by prefix, and `..` applies after links are resolved, as in the kernel. It knows no workspace and opens no
file. The result is that of `os.path.realpath`, except that links in `/proc` are not followed: they lead to another
place in every process.
"""

import os
import re
import stat

import msgspec

_MAX_LINKS = 40  # like the kernel
_MAX_PATH_LENGTH = 4096
_MAX_NAME_LENGTH = 255
_UNUSABLE = r"[\x00-\x1f\x7f-\x9f]"


class Unusable(Exception):
    """The text cannot be resolved to a path; says why."""


class Resolved(msgspec.Struct, frozen=True):
    """Where a path leads, and every spelling on the way there.

    `spellings` holds the path before each link that was followed: a rule about the name `.vscode` must also
    see it where `.vscode` is only a link to somewhere else.
    """

    path: str
    spellings: tuple[str, ...]


def resolve(path: str, cwd: str, *, follow_last: bool = True) -> Resolved:
    """The canonical path. Without `follow_last` a final link is kept, as for `rm` and `mv`."""
    _check_text(path)
    # `~/x` means the home folder to its author; `~x` stays a name unless there is such a user
    absolute = os.path.join(_absolute(cwd), os.path.expanduser(path))
    normal = os.path.normpath(absolute)
    if ".." not in absolute and _has_no_links(normal):
        return Resolved(normal, (normal,))
    return _Walk(absolute, follow_last).run()


def _has_no_links(normal: str) -> bool:
    """Whether there is certainly no link: most paths have none, and checking each folder is enough to know."""
    if normal.startswith("//") or len(os.fsencode(normal)) >= _MAX_PATH_LENGTH:
        return False
    here = ""
    try:
        for name in normal[1:].split("/"):
            here += "/" + name
            if stat.S_ISLNK(os.lstat(here).st_mode):
                return False
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True  # and nothing below it that we could see
    except OSError:
        return False
    return True


def _check_text(path: str) -> None:
    if not path:
        raise Unusable("the path is empty")
    if found := re.search(_UNUSABLE, path):
        raise Unusable(f"the path has a control character (\\x{ord(found.group()):02x})")
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise Unusable("the path is not valid text (UTF-8)") from None
    if len(encoded) >= _MAX_PATH_LENGTH or any(len(name) > _MAX_NAME_LENGTH for name in encoded.split(b"/")):
        raise Unusable("the path is too long")


def _absolute(cwd: str) -> str:
    _check_text(cwd)
    if not cwd.startswith("/"):
        raise Unusable("the current folder must be an absolute path")
    return cwd


class _Walk:
    """The state of one walk: the resolved part, and the names still to go (last first)."""

    def __init__(self, absolute: str, follow_last: bool) -> None:
        self._done: list[str] = []
        self._todo = absolute.split("/")[::-1]
        self._follow_last = follow_last
        self._spellings = [os.path.normpath(absolute)]
        self._links = 0

    def run(self) -> Resolved:
        while self._todo:
            match self._todo.pop():
                case "" | ".":
                    pass
                case "..":
                    del self._done[-1:]
                case name:
                    self._step(name)
        return Resolved(_join(self._done), tuple(self._spellings))

    def _step(self, name: str) -> None:
        here = _join([*self._done, name])
        last = not any(self._todo)
        target = _read_link(here) if self._follow_last or not last else None
        if target is None:
            self._done.append(name)
            return
        self._links += 1
        if self._links > _MAX_LINKS:
            raise Unusable("the path goes through too many links, or a loop of them")
        self._spellings.append(os.path.normpath(_join([here.lstrip("/"), *self._todo[::-1]])))
        if target.startswith("/"):
            self._done = []
        self._todo.extend(target.split("/")[::-1])


def _join(names: list[str]) -> str:
    return "/" + "/".join(names)


def _read_link(path: str) -> str | None:
    """The target if this is a link; None for anything else, including nothing at all."""
    if path.startswith("/proc/"):
        return None
    try:
        if not stat.S_ISLNK(os.lstat(path).st_mode):
            return None
        return os.readlink(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # where we may not look we cannot walk either
    except OSError as error:
        raise Unusable(f"{path} cannot be examined: {error.strerror}") from None
