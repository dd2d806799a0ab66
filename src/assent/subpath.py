"""Whether a path is in a folder, by its text alone: callers resolve links and `..` first."""

from collections.abc import Iterable


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether the path is one of these folders, or in one of them."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
