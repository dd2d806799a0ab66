"""Whether a line that ripgrep found is really in the file of the workspace that its path names.

ripgrep opens paths. While it searches, another process may exchange a folder for a link that leads out of the
workspace; so what it reports is compared with the file that is reached without following links.
"""

import codecs
import os
from contextlib import ExitStack
from typing import Self

from assent.files.errors import WorkspaceError
from assent.tools.support.files import Files

_LARGEST_TRANSCODED = 50_000_000
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class FoundLines:
    """Keeps the newest file open, because lines come file by file."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._open = ExitStack()
        self._path = ""
        self._fd: int | None = None
        self._transcoded: bytes | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def contain(self, path: str, line: bytes, offset: int) -> bool:
        """`offset` is that of the line in the file, as ripgrep counts."""
        if path != self._path:
            self._turn_to(path)
        if self._fd is None:
            return False
        shift = len(codecs.BOM_UTF8)  # ripgrep may leave it out
        places = (offset, offset + shift)
        return any(os.pread(self._fd, len(line), at) == line for at in places) or line in self._as_utf_8(self._fd)

    def _turn_to(self, path: str) -> None:
        self._open.close()
        self._path, self._fd, self._transcoded = path, None, None
        try:
            self._fd = self._open.enter_context(self._files.opened(path))
        except (WorkspaceError, OSError):
            return

    def _as_utf_8(self, fd: int) -> bytes:
        """What ripgrep searches if the file is UTF-16; empty for others."""
        if self._transcoded is None:
            utf_16 = os.pread(fd, 2, 0) in _UTF_16
            data = os.pread(fd, _LARGEST_TRANSCODED, 0) if utf_16 else b""
            self._transcoded = data.decode("utf-16", "replace").encode("utf-8", "replace")
        return self._transcoded
