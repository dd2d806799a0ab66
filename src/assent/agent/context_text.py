"""Assembles what the model is told besides the conversation: the texts of context files.

It reads nothing: the caller finds the files and says which of them may take effect. Those of subfolders count from the
first call that works there.
"""

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct

from assent.events import ContextSource
from assent.files.context_reader import ContextFile, files_in, imports


class Context(Struct, frozen=True):
    text: str = ""
    """For the system prompt."""
    sources: tuple[ContextSource, ...] = ()
    """Every file that was found, loaded or not."""


class Touched:
    """Subfolders of the session's folder in which calls have worked and which have context files."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._seen = {folder}
        self.folders: list[str] = []

    def observe(self, folders: Iterable[str]) -> bool:
        """Note where a finished call worked; true if there is a new folder with context files."""
        before = len(self.folders)
        for place in folders:
            while place.startswith(self._folder + "/") and place not in self._seen:
                self._seen.add(place)
                if files_in(place):
                    self.folders.append(place)
                place = os.path.dirname(place)
        self.folders.sort()
        return len(self.folders) > before


def assemble(found: Sequence[tuple[ContextFile, str]]) -> Context:
    """Each file comes with the reason why it must not take effect (empty: it may). An import appears once, where it is
    imported.
    """
    sources = tuple(ContextSource(file.path, file.size, file.digest, file.problem or why) for file, why in found)
    allowed = {file.path: file for file, why in found if not why and not file.problem}
    told: set[str] = set()
    texts = [_block(file, allowed, told) for file in allowed.values() if not file.imported and file.path not in told]
    return Context("\n\n".join(texts), sources)


def _block(file: ContextFile, allowed: dict[str, ContextFile], told: set[str]) -> str:
    told.add(file.path)
    text = _expanded(file, allowed, told).strip()
    return f"--- Context from: {file.path} ---\n{text}\n--- End of context from: {file.path} ---"


def _expanded(file: ContextFile, allowed: dict[str, ContextFile], told: set[str]) -> str:
    places = dict(file.imports)
    pieces: list[str] = []
    at = 0
    for mention in imports(file.text):
        imported = allowed.get(places.get(mention.path, ""))
        if imported is not None and imported.path not in told:
            pieces += [file.text[at : mention.start], _block(imported, allowed, told)]
            at = mention.end
    return "".join([*pieces, file.text[at:]])
