"""Finds what the nodes of a cluster share besides sessions, for code that knows only the environment.

Imported only if the log is one that is shared: otherwise grants, trust and pins are in files of the data folder.
"""

import weakref
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from assent.shared_records import SharedRecords

_opened: dict[str, list["weakref.ref[SharedRecords]"]] = {}
"""By the URL of their log; the newest is last."""


def remember(url: str, records: SharedRecords) -> None:
    """Of a log that was opened in this process."""
    alive = [one for one in _opened.get(url, ()) if (found := one()) is not None and not found.closed]
    _opened[url] = [*alive, weakref.ref(records)]


def records_at(url: str) -> SharedRecords:
    """If no log is open there, nothing is known: nothing is trusted or granted."""
    found = [records for one in _opened.get(url, ()) if (records := one()) is not None and not records.closed]
    return found[-1] if found else _NothingKnown()


class _NothingKnown:
    closed = True
    version = 0

    def all(self, kind: str) -> Mapping[str, bytes]:
        return MappingProxyType({})

    def put(self, kind: str, key: str, data: bytes | None) -> None:
        raise OSError("the database that the nodes share is not open")

    async def settled(self) -> None: ...

    async def refresh(self) -> None: ...

    async def put_new(self, kind: str, key: str, data: bytes) -> bytes:
        raise OSError("the database that the nodes share is not open")

    async def take(self, kind: str, key: str, max_age: float) -> bytes | None:
        return None

    def watch(self, kind: str, changed: Callable[[], None]) -> None: ...


@asynccontextmanager
async def opened_state(env: Mapping[str, str]) -> AsyncGenerator[None]:
    """For a command that does not use the log itself. What it changes is durable at the end. Raises LogError."""
    from assent.app.storage import open_log, refresh_shared, shared_state

    log = open_log(env)
    try:
        await refresh_shared(log)
        yield
        if (shared := shared_state(log)) is not None:
            await shared.records.settled()
    finally:
        await log.close()
