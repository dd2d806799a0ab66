"""The last check of the files that a person approved for execution, right before a program starts.

What remains is the time until the program itself has opened them: `file_gate.py` hands out the approved content in that
time. Where it cannot, `StartWatch` looks again at the first sign of life, to tell about a change.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from assent.plan import ExecutedFile
from assent.safe_open import content_digest

_EMPTY = sha256().hexdigest()


class FileChanged(Exception):
    """A file is no longer what was approved; nothing was started."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since it was approved")
        self.path = path


def first_changed(files: Iterable[tuple[str, str]], *, inside: bool = False) -> str | None:
    """The first path whose content does not have this digest. `inside`: as seen in a sandbox, which may show a file as
    empty, closed or missing; nothing in it can run then.
    """
    fine = (None, "", _EMPTY) if inside else ()
    return next((path for path, digest in files if content_digest(path) not in (digest, *fine)), None)


class StartWatch:
    """Looks once, when the program prints something, or has ended."""

    def __init__(self, files: Sequence[ExecutedFile]) -> None:
        self._files = [(file.path, file.sha256) for file in files]
        self.changed: str | None = None
        """The file that changed while the program was starting."""

    def look(self) -> None:
        if self._files:
            self.changed = first_changed(self._files)
            self._files.clear()
