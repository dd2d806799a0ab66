"""Who touches what: orders calls that touch the same file or folder, and lets all others run at once.

Each call takes its place in line when it becomes ready; it then waits only for the earlier calls that it conflicts
with. Two reads never conflict. A path that ends in `/` stands for the whole tree below it. The cost of taking a place
depends on the depth of the paths, not on how many calls are in line.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator

from assent.tools.base import Resources

Done = asyncio.Future[None]


class _Users:
    """The calls in line at one path: the last writers, and the readers since."""

    __slots__ = ("readers", "writers")

    def __init__(self) -> None:
        self.readers: set[Done] = set()
        self.writers: set[Done] = set()

    def everyone(self) -> set[Done]:
        return self.readers | self.writers


class ResourceLine:
    def __init__(self) -> None:
        self._exact: dict[str, _Users] = defaultdict(_Users)
        """Users of exactly this file."""
        self._tree: dict[str, _Users] = defaultdict(_Users)
        """Users of the whole tree at this folder."""
        self._below: dict[str, _Users] = defaultdict(_Users)
        """Users of anything below this folder."""

    def join(self, resources: Resources) -> tuple[set[Done], Done]:
        """Takes a place: whom to wait for, and the future to resolve when finished."""
        done: Done = asyncio.get_running_loop().create_future()
        waits: set[Done] = set()
        for path in resources.reads:
            waits |= self._conflicts(path, writing=False)
        for path in resources.writes:
            waits |= self._conflicts(path, writing=True)
        self._enter(resources, done)
        return {earlier for earlier in waits if not earlier.done()}, done

    def _conflicts(self, path: str, *, writing: bool) -> set[Done]:
        found: set[Done] = set()
        for users in self._overlapping(path):
            found |= users.everyone() if writing else users.writers
        return found

    def _overlapping(self, path: str) -> Iterator[_Users]:
        """Everybody registered at this path, at a tree above it, or (for a tree) anywhere below it."""
        places = [(self._tree, above) for above in _folders_above(path)]
        places += [(self._tree, path), (self._below, path)] if path.endswith("/") else [(self._exact, path)]
        for table, key in places:
            if key in table:
                yield table[key]

    def _enter(self, resources: Resources, done: Done) -> None:
        entered: list[tuple[dict[str, _Users], str]] = []
        for path in resources.reads:
            for table, key in self._places(path):
                table[key].readers.add(done)
                entered.append((table, key))
        for path in resources.writes:
            for table, key in self._places(path):
                users = table[key]
                if table is not self._below:
                    # Later calls wait for this one, which itself waits for all of these: they need not be kept.
                    users.readers.clear()
                    users.writers.clear()
                users.writers.add(done)
                entered.append((table, key))
        if entered:
            done.add_done_callback(lambda future: _leave(entered, future))

    def _places(self, path: str) -> Iterable[tuple[dict[str, _Users], str]]:
        yield (self._tree if path.endswith("/") else self._exact), path
        for above in _folders_above(path):
            yield self._below, above


def _leave(entered: list[tuple[dict[str, _Users], str]], done: Done) -> None:
    for table, key in entered:
        users = table.get(key)
        if users is None:
            continue
        users.readers.discard(done)
        users.writers.discard(done)
        if not users.readers and not users.writers:
            del table[key]


def _folders_above(path: str) -> list[str]:
    """`/a/b/c` → `/a/b/`, `/a/`, `/`."""
    folders: list[str] = []
    cut = path.rstrip("/").rfind("/")
    while cut >= 0:
        folders.append(path[: cut + 1])
        cut = path.rfind("/", 0, cut)
    return folders
