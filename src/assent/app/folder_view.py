"""What a front end shows of a folder: its files, for completion and for reading, and its branch."""

import os
from collections.abc import Iterable
from hashlib import sha256

from msgspec import Struct

from assent.events import FileChange
from assent.plan import ExecutedFile
from assent.safe_open import read_regular

MAX_SHOWN = 5_000_000
MAX_LOOKED_AT = 8_000
"""Bytes at the start of a file that show whether it is text."""


async def list_paths(folder: str) -> list[str]:
    """Relative paths; folders end with a slash; ignored files are left out."""
    from assent.files.listing import list_paths

    return await list_paths(folder)


def current_branch(folder: str) -> str:
    """Empty if there is none."""
    from assent.process.git_branch import current_branch

    return current_branch(folder)


def read_text(folder: str, path: str) -> str:
    """A file of the folder, for the person to look at; raises OSError if it cannot be shown."""
    from assent.files.access import FileAccess
    from assent.files.errors import WorkspaceError
    from assent.files.workspace import Workspace

    try:
        data = FileAccess(Workspace([folder], folder)).read_bytes(path, MAX_SHOWN, protected_ok=True).data
    except WorkspaceError as error:
        raise OSError(str(error)) from error
    return as_text(data, path)


def as_text(data: bytes, path: str) -> str:
    """The content of a file; raises OSError if it is not text."""
    if b"\0" in data[:MAX_LOOKED_AT]:
        raise OSError(f"{path} is not text.")
    return data.decode("utf-8", "replace")


class ExecutedText(Struct, frozen=True):
    """A file that a command executes, for whoever is asked about the command."""

    path: str
    text: str
    problem: str = ""
    """Why this is not the content that the question is about."""


CHANGED_SINCE_ASKED = "It has changed since this was asked. A yes does not cover it: you would be asked again."


def executed_text(file: ExecutedFile) -> ExecutedText:
    """The content whose digest is in the question, if the file still has it."""
    try:
        data = read_regular(file.path, MAX_SHOWN)
    except FileNotFoundError:
        return ExecutedText(file.path, "", "It no longer exists.")
    except OSError as error:
        return ExecutedText(file.path, "", f"It cannot be shown: {error.strerror}.")
    problem = "" if sha256(data).hexdigest() == file.sha256 else CHANGED_SINCE_ASKED
    if b"\0" in data[:MAX_LOOKED_AT]:
        return ExecutedText(file.path, "", problem or f"It is not text ({len(data):,} bytes).")
    return ExecutedText(file.path, data.decode("utf-8", "replace"), problem)


def digests(folder: str, paths: Iterable[str]) -> dict[str, str]:
    """The digest of each of these files, as in `FileChange`; empty if there is none. Without those that nobody may
    read.
    """
    return {path: digest for path in set(paths) if (digest := _digest(folder, path)) is not None}


def digest_before(change: FileChange) -> str | None:
    """The digest of the content that a call replaced; empty if there was no file, None if it is kept elsewhere."""
    from assent.files.openat import digest_of

    if change.kept or change.effects:
        return None
    return digest_of(change.before) if change.before is not None else ""


def _digest(folder: str, path: str) -> str | None:
    from assent.files.access import FileAccess
    from assent.files.errors import WorkspaceError
    from assent.files.openat import digest_of
    from assent.files.workspace import Workspace

    if not os.path.lexists(os.path.join(folder, path)):
        return ""
    try:
        return digest_of(FileAccess(Workspace([folder], folder)).read_bytes(path, MAX_SHOWN, protected_ok=True).data)
    except (WorkspaceError, OSError):
        return None
