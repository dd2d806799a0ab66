"""Who touches what: says for each call of a batch which earlier calls it must wait for, and lets all others run.

Two calls conflict if one writes what the other reads or writes. A path stands for itself and everything below it, so
listing a folder conflicts with writing a file in it. Case is ignored, because on some file systems names that differ
only in case are the same file. The cost of lining up depends on the depth of the paths, not on the number of calls in
line.
"""

import asyncio
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from assent.tools.tool import Resources

Done = asyncio.Future[None]

_EVERYWHERE = ""


class _Users:
    """The calls in line at one path: the last writers, and the readers since."""

    __slots__ = ("readers", "writers")

    def __init__(self) -> None:
        self.readers: set[Done] = set()
        self.writers: set[Done] = set()

    def enter(self, done: Done, *, writing: bool) -> None:
        (self.writers if writing else self.readers).add(done)

    def replace(self, done: Done) -> None:
        """Later calls wait for this writer, which itself waits for everyone here, so they need not be kept."""
        self.readers.clear()
        self.writers = {done}

    def conflicting(self, *, writing: bool) -> Iterator[Done]:
        yield from _as_one(self.writers)
        if writing:
            yield from _as_one(self.readers)


class ResourceLine:
    def __init__(self) -> None:
        self._at: dict[str, _Users] = defaultdict(_Users)
        """Users of exactly this path."""
        self._below: dict[str, _Users] = defaultdict(_Users)
        """Users of anything below this path."""

    def join(self, resources: Resources) -> tuple[set[Done], Done]:
        """Line up: returns whom to wait for, and the future to resolve when finished."""
        done: Done = asyncio.get_running_loop().create_future()
        places = list(_places(resources))
        earlier = {each for place, writing in places for each in self._conflicts(place, writing=writing)}
        for place, writing in places:
            self._enter(place, done, writing=writing)
        return {each for each in earlier if not each.done()}, done

    def _conflicts(self, place: str, *, writing: bool) -> Iterator[Done]:
        """Conflicts with everyone registered at this path, above it, or anywhere below it."""
        for above in (place, *_above(place)):
            if above in self._at:
                yield from self._at[above].conflicting(writing=writing)
        if place in self._below:
            yield from self._below[place].conflicting(writing=writing)

    def _enter(self, place: str, done: Done, *, writing: bool) -> None:
        if writing:
            self._at[place].replace(done)
            self._below.pop(place, None)
        else:
            self._at[place].enter(done, writing=False)
        for above in _above(place):
            self._below[above].enter(done, writing=writing)


def finish(done: Done, earlier: set[Done]) -> None:
    """Others wait for a call instead of those it waits for itself, so it is never done before them."""
    pending = [each for each in earlier if not each.done()]
    if pending:
        _all_of(pending).add_done_callback(lambda _: done.set_result(None))
    else:
        done.set_result(None)


def _places(resources: Resources) -> Iterator[tuple[str, bool]]:
    """Each path and whether it is written; a resource that is not a file has a name without a slash."""
    yield from ((_key(path), False) for path in resources.reads)
    yield from ((_key(path), True) for path in (*resources.writes, *resources.things))
    if resources.anything:
        yield _EVERYWHERE, resources.anything == "write"


def _key(path: str) -> str:
    folded = path.rstrip("/").casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def _above(place: str) -> Iterator[str]:
    """`/a/b/c` → `/a/b`, `/a`, and the root of everything."""
    cut = place.rfind("/")
    while cut >= 0:
        place = place[:cut]
        yield place
        cut = place.rfind("/")


def _as_one(users: set[Done]) -> set[Done]:
    """Replace many futures with one that waits for all of them, so that later calls wait for only one."""
    living = [user for user in users if not user.done()]
    users.clear()
    users.update([_all_of(living)] if len(living) > 1 else living)
    return users


def _all_of(users: list[Done]) -> Done:
    everyone: Done = asyncio.get_running_loop().create_future()
    left = len(users)

    def one_less(_: Done) -> None:
        nonlocal left
        left -= 1
        if not left:
            everyone.set_result(None)

    for user in users:
        user.add_done_callback(one_less)
    return everyone
