"""Why a file could not be read or written: one type per reason, each with a message for a person.

WorkspaceError
├── RejectedPath        the text is not a usable path (empty, control characters, link loop, too long)
├── OutsideWorkspace    it leads out of the folders the user opened
├── ProtectedPath       a special file; needs its own approval
├── ChangedSinceShown   it is not what the user saw when deciding
├── NotAFile            a folder, device, pipe or socket where a regular file is needed
├── NotFound            there is nothing (or a folder on the way is missing)
├── TooLarge            more bytes than the caller wants
└── CannotAccess        the system refused: permissions, full disk, read-only
"""

import errno
import os


class WorkspaceError(Exception):
    """The base: `str(error)` is for a person, `path` is what it is about."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}")
        self.path = path
        self.sentence = sentence


class RejectedPath(WorkspaceError):
    """The text cannot be used as a path."""


class OutsideWorkspace(WorkspaceError):
    """The path leads out of the workspace."""


class ProtectedPath(WorkspaceError):
    """The path needs its own approval."""


class ChangedSinceShown(WorkspaceError):
    """The content on disk is not what was shown."""


class NotAFile(WorkspaceError):
    """A regular file is needed here."""


class NotFound(WorkspaceError):
    """There is nothing at this path."""


class TooLarge(WorkspaceError):
    """The file has more bytes than requested."""


class CannotAccess(WorkspaceError):
    """The operating system refused."""


def from_os(path: str, error: OSError) -> WorkspaceError:
    """The typed error for a system error on a path that was walked without following links."""
    match error.errno:
        case errno.ENOENT:
            return NotFound(path, "there is no such file or folder")
        case errno.ELOOP:
            return ChangedSinceShown(path, "it became a link after it was checked")
        case errno.ENOTDIR:
            return NotFound(path, "part of this path is a file, not a folder")
        case errno.EISDIR | errno.ENXIO:
            return NotAFile(path, "this is not a regular file")
        case code:
            return CannotAccess(path, os.strerror(code) if code else str(error))
