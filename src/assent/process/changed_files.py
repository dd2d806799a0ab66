"""The last look at the files that a person approved for execution, right before a program starts.

What remains is the time until the program itself opens them.
"""

from collections.abc import Iterable

from assent.safe_open import content_digest


class FileChanged(Exception):
    """A file is no longer what was approved; nothing was started."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has changed since it was approved")
        self.path = path


def first_changed(files: Iterable[tuple[str, str]]) -> str | None:
    """The first path whose content does not have this digest."""
    return next((path for path, digest in files if content_digest(path) != digest), None)
