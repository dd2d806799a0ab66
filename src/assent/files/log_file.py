"""A file that lines are appended to, for a server's log: private, and reopened after a rotation."""

import os
from contextlib import suppress

from assent.files.private_folder import make_private


class LogFile:
    def __init__(self, path: str) -> None:
        """Raises OSError if it cannot be written."""
        self._path = os.path.abspath(path)
        self._handle = self._open()

    def write(self, data: bytes) -> None:
        """Raises OSError, e.g. if the disk is full."""
        os.write(self._handle, data)

    def reopen(self) -> None:
        """After a rotation, the old name is a new file. If that fails, the old file stays in use."""
        handle = self._open()
        old, self._handle = self._handle, handle
        os.close(old)

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._handle)

    def _open(self) -> int:
        make_private(os.path.dirname(self._path))
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
