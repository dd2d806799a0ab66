"""Context files: a person's notes for every conversation in a folder, and what those files import.

Found from the repository root (or the home folder) down to the folder itself, outermost first. Each file is read like
any user file: no link leads out of the boundary, and files that usually hold secrets are never imported. Whether the
text may take effect is not decided here.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.files.errors import NotFound, WorkspaceError
from assent.files.workspace import Workspace

if TYPE_CHECKING:  # most folders have no such file
    from assent.files.access import FileAccess
    from assent.files.mention_finder import Mention

NAMES = ("ASSENT.md", "AGENTS.md", "GEMINI.md")
SIZE_LIMIT = 200_000
MAX_FILES = 50
MAX_IMPORT_DEPTH = 5

_MAX_FOLDERS = 5_000
_NEVER_BELOW = ("node_modules", "__pycache__", "venv")


class ContextFile(Struct, frozen=True, kw_only=True):
    path: str
    text: str = ""
    digest: str = ""
    size: int = 0
    imports: tuple[tuple[str, str], ...] = ()
    """What it imports: the path as written, and the path of the file."""
    imported: bool = False
    problem: str = ""
    """Why it could not be read."""


def find_context(folder: str, home: str = "", below: Iterable[str] = ()) -> list[ContextFile]:
    """The files for a folder and everything they import, each once; outermost folders first.

    `below` are relevant folders inside it.
    """
    top = _top(folder, home)
    reader = _Reader(top)
    for place in (*_down(top, folder), *below):
        for path in files_in(place):
            reader.read(path)
    return list(reader.found.values())


def files_in(folder: str) -> list[str]:
    """The context files of this very folder."""
    paths = (os.path.join(folder, name) for name in NAMES)
    return [path for path in paths if os.path.lexists(path)]


def folders_below(folder: str) -> list[str]:
    """Subfolders that have context files; hidden folders and third-party code are left out."""
    found: list[str] = []
    waiting = [folder]
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        place = waiting.pop()
        inner = _folders_in(place)
        waiting += inner
        found += [each for each in inner if files_in(each)]
    return sorted(found)


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [each.path for each in folders if each.name[0] != "." and each.name not in _NEVER_BELOW]


def imports(text: str) -> Iterator["Mention"]:
    """Every `@path` outside code that is more than a name, such as `@ann`."""
    from assent.files.mention_finder import mentions

    return (mention for mention in mentions(text) if re.search(r"[./].*[^./]", mention.path))


class _Reader:
    def __init__(self, top: str) -> None:
        self._top = top
        self.found: dict[str, ContextFile] = {}

    @cached_property
    def _workspace(self) -> Workspace:
        return Workspace([self._top], self._top)

    @cached_property
    def _access(self) -> "FileAccess":
        from assent.files.access import FileAccess

        return FileAccess(self._workspace)

    def read(self, path: str, depth: int = 0) -> str:
        """Returns the path under which the file is known; empty if there is none."""
        place = self._workspace.classify(path, "read").path
        if place in self.found:
            return place
        if len(self.found) >= MAX_FILES:
            return ""
        try:
            content = self._access.read_bytes(path, SIZE_LIMIT)
            text = content.data.decode("utf-8-sig")
        except NotFound:
            return ""
        except (WorkspaceError, UnicodeDecodeError) as error:
            problem = str(error) if isinstance(error, WorkspaceError) else "it is not UTF-8 text"
            self.found[place] = ContextFile(path=place, imported=depth > 0, problem=problem)
            return place
        self.found[place] = file = ContextFile(
            path=place, text=text, digest=content.digest, size=content.size, imported=depth > 0
        )
        self.found[place] = _with_imports(file, tuple(self._imports(file, depth)))
        return place

    def _imports(self, file: ContextFile, depth: int) -> Iterator[tuple[str, str]]:
        if depth >= MAX_IMPORT_DEPTH:
            return
        for mention in imports(file.text):
            if place := self.read(os.path.join(os.path.dirname(file.path), mention.path), depth + 1):
                yield mention.path, place


def _with_imports(file: ContextFile, imports: tuple[tuple[str, str], ...]) -> ContextFile:
    return ContextFile(
        path=file.path, text=file.text, digest=file.digest, size=file.size, imports=imports, imported=file.imported
    )


def _top(folder: str, home: str) -> str:
    """The repository root; without one the home folder, or if that is not above, the folder itself."""
    place = folder
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if place == home:
            return home
        if above == place:
            return folder
        place = above
    return place


def _down(top: str, folder: str) -> list[str]:
    """The folders on the way from one to the other, both included."""
    places = [folder]
    while places[0] != top:
        places.insert(0, os.path.dirname(places[0]))
    return places
