"""Files of a session's folder for completion: what git ignores is left out, nothing outside the folder is shown."""

import time
from collections import OrderedDict

from assent.app.workspace_files import workspace_files

FRESH_SECONDS = 5.0
MAX_FOLDERS = 16


class Completion:
    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()

    async def find(self, folder: str, query: str, limit: int) -> tuple[str, ...]:
        """Best first: prefixes, then substrings, then paths with all the letters in order."""
        wanted = query.lower()
        ranked = [(rank, len(path), path) for path in await self._files(folder) if (rank := _rank(path, wanted)) < 4]
        return tuple(path for _, _, path in sorted(ranked)[:limit])

    async def _files(self, folder: str) -> list[str]:
        at, files = self._known.get(folder, (0.0, []))
        if time.monotonic() - at > FRESH_SECONDS:
            files = await workspace_files(folder)
            self._known[folder] = (time.monotonic(), files)
            if len(self._known) > MAX_FOLDERS:
                self._known.popitem(last=False)
        return files


def _rank(path: str, wanted: str) -> int:
    lowered = path.lower()
    if lowered.startswith(wanted):
        return 0
    if lowered.rpartition("/")[2].startswith(wanted):
        return 1
    if wanted in lowered:
        return 2
    letters = iter(lowered)
    return 3 if all(letter in letters for letter in wanted) else 4
