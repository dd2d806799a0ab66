"""Keeps what trials changed, outside the workspace: the upper folder of each, and what applying it replaced.

A trial has a folder under its name. While the command runs, a lock is held, so that what a killed process left is
recognized and removed; when it has ended, the folder stays until the effects are applied or discarded. It knows no
policy, and nothing of the workspace.
"""

import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.files.entries import Effect
from assent.files.private_folder import make_private, save_private
from assent.files.upper_folder import Unappliable
from assent.trial import ShownEffect

_MAX_AGE = 30 * 24 * 3600
"""Seconds for which what was applied can be undone, and what waits can be applied."""
_LOCK, _RESULT, _APPLIED, _COMPLETE = "lock", "trial.json", "applied.json", "complete"


class TrialResult(Struct, frozen=True, kw_only=True):
    """A finished trial: all its effects, and how they are shown."""

    effects: tuple[Effect, ...]
    unappliable: tuple[Unappliable, ...]
    shown: tuple[ShownEffect, ...]
    output: str
    ended: str
    report: str
    """What the model is told if the effects are applied."""
    notes: tuple[str, ...] = ()
    changed_meanwhile: tuple[str, ...] = ()


class TrialFolder:
    def __init__(self, path: str) -> None:
        self.path = path
        self.upper = os.path.join(path, "upper")
        self.work = os.path.join(path, "work")
        self.kept = os.path.join(path, "kept")
        """The files that applying the effects replaced, by hash."""
        self.chosen = os.path.join(path, "chosen")
        """New contents of files of which only some hunks are applied, by hash."""
        self._lock: int | None = None

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def make(self) -> int:
        """Create it, and hold its lock; returns the time by the clock of the file system."""
        for folder in (self.path, self.upper, self.work):
            make_private(folder)
        self._lock = os.open(os.path.join(self.path, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return max(os.fstat(self._lock).st_ctime_ns, time.time_ns())  # some file systems have a finer clock than others

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def save(self, result: TrialResult) -> None:
        save_private(Path(self.path, _RESULT), msgspec.json.encode(result))

    def result(self) -> TrialResult | None:
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(Path(self.path, _RESULT).read_bytes(), type=TrialResult)
        return None

    def begin_applying(self, effects: tuple[Effect, ...]) -> None:
        """Record what is about to change, before it does."""
        for folder in (self.path, self.kept):
            make_private(folder)
        save_private(Path(self.path, _APPLIED), msgspec.json.encode(effects))

    def end_applying(self) -> None:
        """All of it is in the workspace."""
        save_private(Path(self.path, _COMPLETE), b"")

    @property
    def was_interrupted(self) -> bool:
        return not os.path.exists(os.path.join(self.path, _COMPLETE))

    def applied(self) -> tuple[Effect, ...] | None:
        """What was about to change, or has changed; None if nothing was."""
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(Path(self.path, _APPLIED).read_bytes(), type=tuple[Effect, ...])
        return None

    def keep_chosen(self, data: bytes, sha256: str) -> None:
        make_private(self.chosen)
        with open(os.path.join(self.chosen, sha256), "wb") as file:
            file.write(data)

    def drop_upper(self) -> None:
        """The effects are in the workspace; what they replaced stays."""
        for folder in (self.upper, self.work, self.chosen):
            remove_tree(folder)

    def is_left_behind(self) -> bool:
        """Its process was killed while the command ran; or it is very old."""
        result = os.path.join(self.path, _RESULT)
        with suppress(OSError):
            return time.time() - os.stat(result).st_mtime > _MAX_AGE
        if os.path.exists(os.path.join(self.path, _APPLIED)):
            return False
        return self._is_free()

    def _is_free(self) -> bool:
        try:
            fd = os.open(os.path.join(self.path, _LOCK), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(fd)
        return True


class TrialStore:
    def __init__(self, path: str) -> None:
        self.path = path

    def folder(self, name: str) -> TrialFolder:
        return TrialFolder(os.path.join(self.path, os.path.basename(name) or "_"))

    def remove(self, name: str) -> None:
        remove_tree(self.folder(name).path)

    def sweep(self) -> None:
        """Remove what killed processes left."""
        with suppress(FileNotFoundError):
            for name in os.listdir(self.path):
                if (folder := self.folder(name)).is_left_behind():
                    remove_tree(folder.path)


def remove_tree(path: str) -> None:
    """This works even if a command or the kernel left folders that nobody can open, or nested them deeper than the
    longest path: each folder is moved to the top before it is emptied. What cannot be removed stays, for the next time.
    """
    todo, number = [path], 0
    while todo:
        folder = todo.pop()
        with suppress(OSError):
            for entry in list(os.scandir(folder)):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                number += 1
                os.chmod(entry.path, stat.S_IRWXU)
                os.rename(entry.path, above := f"{path}.{number}")
                todo.append(above)
            os.rmdir(folder)
