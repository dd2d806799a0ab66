"""A private folder whose files are also kept elsewhere: it notes each complete file.

Files are written by threads as well, so it only notes them; whoever runs the session sends them.
"""

import os
from collections import deque
from pathlib import Path

from assent.files.private_folder import PrivateFile, PrivateFolder, make_private, save_private

Noted = deque[tuple[str, str]]
"""Names in the store, with paths, oldest first."""


class MirroredFolder(PrivateFolder):
    def __init__(self, path: str, prefix: str, noted: Noted) -> None:
        """`prefix`: of the names in the store."""
        super().__init__(path)
        self._prefix, self._noted = prefix, noted

    def create(self, name: str) -> PrivateFile:
        file = super().create(name)
        file.closed = self._note
        return file

    def keep(self, data: bytes) -> str:
        make_private(self.path)
        name = super().keep(data)
        self._note(os.path.join(self.path, name))
        return name

    def restore(self, name: str, data: bytes) -> None:
        """A file that another machine has made."""
        save_private(Path(self.path, name), data)

    def has(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.path, name))

    def _note(self, path: str) -> None:
        name = os.path.basename(path)
        if not name.endswith(".part"):  # a content that is not complete yet
            self._noted.append((f"{self._prefix}{name}", path))
