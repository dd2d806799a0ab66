"""Access to the user's files for tools: `assent.files` does the work, and this module words its errors for the model.

Paths come as the model wrote them: relative to the workspace, or absolute inside it. The policy decides about protected
files, based on what `should_confirm` shows, with one exception: nothing is ever written into a `.git` folder.
"""

import os
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Literal

from assent.events import FileChange
from assent.files.access import Entry, FileAccess
from assent.files.errors import (
    CannotAccess,
    ChangedSinceShown,
    NotAFile,
    NotFound,
    OutsideWorkspace,
    ProtectedPath,
    RejectedPath,
    TooLarge,
    WorkspaceError,
)
from assent.files.openat import digest_of
from assent.files.private_folder import PrivateFolder
from assent.files.protected import fold
from assent.files.regular_file import NotPlain
from assent.files.workspace import Operation, PathVerdict, Workspace
from assent.tools.support.known_contents import KnownContents
from assent.tools.support.textfile import NotText, decode
from assent.tools.tool import InvalidParams, ToolFailed

_TEXT_BYTES = 20_000_000
_NEAR_ENOUGH = 60
_IN_THE_LOG = 100_000

Doing = Literal["read", "write", "list"]


# --- arguments, checked before anything else ---


def check_path(path: str, argument: str) -> None:
    if not path.strip():
        raise InvalidParams(f"{argument} must not be empty")


def check_text(text: str, argument: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParams(f"{argument} contains a lone surrogate, which cannot be written") from None


def check_pattern(pattern: str, argument: str) -> None:
    import re

    from assent.tools.support.globbing import matcher

    if not pattern.strip():
        raise InvalidParams(f"{argument} must not be empty")
    try:
        matcher(pattern)
    except re.error as error:
        raise InvalidParams(f"{argument} is not a valid path pattern: {error}") from error


def printable(name: str) -> str:
    """A name made of any bytes, as one line of valid text."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if text.isprintable() else repr(text)


class Files:
    """One workspace, as all its tools see it. Every method raises ToolFailed with a message for the model."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        new_mode: int = 0o644,
        contents: PrivateFolder | None = None,
        known: KnownContents | None = None,
    ) -> None:
        """`contents`: where to keep contents that are too large for the log, so that a change can be undone."""
        self.workspace = workspace
        self._contents = contents
        self._access = FileAccess(workspace, new_mode=new_mode)
        self.known = known or KnownContents()

    # --- places ---

    @property
    def root(self) -> str:
        """The base of relative paths."""
        return _canonical(self.workspace.cwd)

    def absolute(self, path: str) -> str:
        """Where the path leads, only for ordering calls: it never fails, and does not mean that access is allowed."""
        return self.workspace.classify(path or ".", "list").path

    def why_asked(self, path: str) -> str:
        """Why reading this needs approval; empty if it does not."""
        return self.why_protected(path, "read")

    def is_ordinary(self, path: str) -> bool:
        """Whether a file that a search found may be shown. A name that no call could use is not ordinary."""
        return self.workspace.classify(path, "read").kind == "inside"

    def why_protected(self, path: str, operation: Operation) -> str:
        """Why changing this needs its own approval; empty if it does not."""
        verdict = self.workspace.classify(path, operation)
        return verdict.reason if verdict.kind == "protected" else ""

    def locate(self, path: str, operation: Operation) -> str:
        """The canonical path, if it is in the workspace."""
        return self._judged(path, operation).path

    def _judged(self, path: str, operation: Operation) -> PathVerdict:
        verdict = self.workspace.classify(path or ".", operation)
        match verdict.kind:
            case "inside" | "protected":
                return verdict
            case "outside":
                raise self._outside(path)
            case "reject":
                raise ToolFailed("invalid_tool_params", f"{printable(path)!r} is not a usable path: {verdict.reason}.")

    def existing(self, path: str) -> str:
        """The canonical path of something that exists."""
        found = self.locate(path, "list")
        if not os.path.lexists(found):
            raise self.not_found(path)
        return found

    def folder(self, path: str) -> str:
        found = self.existing(path)
        if not os.path.isdir(found):
            raise ToolFailed("path_is_not_a_directory", f"{path} is not a folder.")
        return found

    def writable(self, path: str) -> PathVerdict:
        """The path of a file to write, which may not exist yet."""
        found = self._judged(path, "write")
        if any(fold(name) == ".git" for name in (*path.split("/"), *found.path.split("/"))):
            raise ToolFailed("permission_denied", f"{path} is inside .git, where only git itself may change files.")
        return found

    def shown(self, canonical: str) -> str:
        """The path as the model may use it: relative to the base of relative paths, or absolute."""
        base = self.root.rstrip("/") + "/"
        return canonical[len(base) :] if canonical.startswith(base) else canonical

    def holds(self, path: str) -> bool:
        return self.workspace.below_root(path) is not None

    def root_of(self, canonical: str) -> str:
        """The folder opened by the user that contains this path."""
        below = self.workspace.below_root(canonical)
        return below[0] if below else canonical

    # --- content ---

    def read(self, path: str, limit: int, *, asked: bool = False) -> bytes:
        """For the model. `asked`: someone was told that this file usually holds secrets."""
        try:
            data = self._access.read_bytes(path, limit, protected_ok=asked).data
        except WorkspaceError as error:
            raise self._failed(error, path, "read") from error
        self.known.note(self.absolute(path), data)
        return data

    def check_unchanged(self, canonical: str, data: bytes) -> None:
        """Whoever writes the whole file from what they remember would undo what somebody else has changed since."""
        if self.known.is_outdated(canonical, data):
            shown = self.shown(canonical)
            message = (
                f"{shown} has changed since you last read or wrote it. Read it again, then keep what is new in it."
            )
            raise ToolFailed("file_changed", message)

    def read_or_none(self, path: str, limit: int) -> bytes | None:
        """None if there is no file. For changing it: the change is shown and decided on as a whole."""
        try:
            return self._access.read_bytes(path, limit, protected_ok=True).data
        except NotFound:
            return None
        except WorkspaceError as error:
            raise self._failed(error, path, "read") from error

    def text_or_none(self, path: str) -> str | None:
        """For searching: None for files that cannot be read, are protected or are not text."""
        try:
            return decode(self._access.read_bytes(path, _TEXT_BYTES).data).text
        except (WorkspaceError, NotText):
            return None

    def opened(self, path: str) -> AbstractContextManager[int]:
        """A file that may be shown, open for reading. Raises WorkspaceError."""
        return self._access.opened(path)

    def write(self, path: str, before: bytes | None, after: bytes) -> None:
        """Only if the file still has exactly the content `before` (None: if there is still no file)."""
        try:
            if before is None:
                self._access.make_dirs(os.path.dirname(path), protected_ok=True)
            self._access.write(path, after, None if before is None else digest_of(before), protected_ok=True)
        except WorkspaceError as error:
            raise self._failed(error, path, "write") from error

    def delete(self, path: str, before: bytes) -> None:
        """Only if the file still has exactly the content `before`."""
        try:
            self._access.delete(path, digest_of(before), protected_ok=True)
        except WorkspaceError as error:
            raise self._failed(error, path, "write") from error

    # --- previous contents ---

    def recorded(self, path: str, before: bytes | None, after: bytes | None) -> FileChange:
        """A change that is about to happen. Large contents are kept outside the log."""
        digest = "" if after is None else digest_of(after)
        if before is None or len(before) <= _IN_THE_LOG or self._contents is None:
            return FileChange(path=path, after=digest, before=before)
        try:
            return FileChange(path=path, after=digest, kept=self._contents.keep(before))
        except OSError as error:
            message = f"{path} was not changed, because its current content could not be kept for undo: {error}."
            raise ToolFailed("file_write_failure", message) from error

    def before(self, change: FileChange) -> bytes | None:
        if not change.kept:
            return change.before
        try:
            if self._contents is None:
                raise FileNotFoundError
            data = self._contents.kept(change.kept)
        except (OSError, NotPlain):
            data = b""
        if digest_of(data) != change.kept:
            message = f"The previous content of {change.path} is no longer kept, so the change cannot be undone."
            raise ToolFailed("read_content_failure", message)
        return data

    def entries(self, path: str) -> list[Entry]:
        try:
            return self._access.scan(path)
        except WorkspaceError as error:
            raise self._failed(error, path, "list") from error

    def has(self, path: str) -> bool:
        """Whether it is still there, below the workspace."""
        return self._access.has(path)

    def modified(self, path: str) -> float:
        """When it was last changed; 0 if it is gone."""
        try:
            return os.lstat(path).st_mtime
        except OSError:
            return 0.0

    # --- messages ---

    def not_found(self, path: str, hint: str = "") -> ToolFailed:
        if not os.path.isdir(self.workspace.cwd):
            return ToolFailed("file_not_found", f"The folder {self.workspace.cwd} no longer exists.")
        near = self._near_names(path)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        return ToolFailed("file_not_found", f"{path} does not exist.{guess}{' ' if hint else ''}{hint}")

    def _near_names(self, path: str) -> list[str]:
        """Names in the same folder that look alike."""
        parent, _, name = path.rstrip("/").rpartition("/")
        try:
            names = [entry.name for entry in self._access.scan(parent or ("/" if path.startswith("/") else "."))]
        except WorkspaceError:
            return []
        from rapidfuzz import fuzz, process

        best = process.extract(name, names, scorer=fuzz.ratio, score_cutoff=_NEAR_ENOUGH, limit=2)
        return [printable(f"{parent}/{match[0]}" if parent else match[0]) for match in best]

    def _outside(self, path: str) -> ToolFailed:
        message = f"{path} is outside the workspace ({', '.join(self.workspace.roots)}). Use a path inside it."
        return ToolFailed("path_not_in_workspace", message)

    def _failed(self, error: WorkspaceError, path: str, doing: Doing) -> ToolFailed:
        match error:
            case OutsideWorkspace():
                return self._outside(path)
            case NotFound():
                return self.not_found(path)
            case NotAFile() if os.path.isdir(self.absolute(path)):
                return ToolFailed("target_is_directory", f"{path} is a folder, not a file.")
            case _:
                return ToolFailed(_failure_type(error, doing), f"{error}.")


def _failure_type(error: WorkspaceError, doing: Doing) -> str:
    match error:
        case RejectedPath():
            return "invalid_tool_params"
        case ProtectedPath():
            return "permission_denied"
        case ChangedSinceShown() if doing == "write":
            return "changed_since_shown"
        case TooLarge():
            return "file_too_large"
        case CannotAccess(sentence="Permission denied"):
            return "permission_denied"
        case CannotAccess(sentence="No space left on device"):
            return "no_space_left"
        case _:
            return {"read": "read_content_failure", "write": "file_write_failure", "list": "ls_execution_error"}[doing]


@lru_cache(maxsize=16)
def _canonical(folder: str) -> str:
    return os.path.realpath(folder)
