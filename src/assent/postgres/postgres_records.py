"""The small records that nodes share, as one table, with a copy in the memory of each process.

One row counts all changes. Whoever changes a record holds that row until the commit, so the numbers follow the order of
the commits, and a process that reads everything above the last number it knows misses nothing. It does so when it is
notified, when someone needs to be sure (`refresh`), and every few seconds in case a notification was lost. A removed
record stays as an empty row for a while, so that the others learn of it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_connections import Connections
from assent.postgres.postgres_watch import RECORDS, PostgresWatch
from assent.postgres.postgres_writer import CHANNEL
from assent.session.log import LogError

POLL_SECONDS = 5.0
"""The longest that a process with a working connection does not know a change."""
_NEXT = "UPDATE records_version SET version = version + 1 RETURNING version"
_NEWS = """
SELECT v.version, r.kind, r.key, r.data FROM records_version v LEFT JOIN records r ON r.version > $1"""
_PUT = """
INSERT INTO records (kind, key, data, version)
SELECT kind, key, data, $4 FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS n (kind, key, data)
ON CONFLICT (kind, key) DO UPDATE SET data = excluded.data, version = excluded.version, changed = now()"""
_FOUND = "SELECT data FROM records WHERE kind = $1 AND key = $2 AND data IS NOT NULL"
_YOUNG = f"{_FOUND} AND changed > now() - make_interval(secs => $3)"
_SWEEP = "DELETE FROM records WHERE data IS NULL AND changed < now() - interval '1 day'"
_TELL = "SELECT pg_notify($1, $2)"

Place = tuple[str, str]
"""Kind and key."""


class PostgresRecords:
    def __init__(self, connections: Connections, watch: PostgresWatch) -> None:
        self._connections, self._watch = connections, watch
        self._known: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._version = 0
        """Of the newest change that is known."""
        self._read_on = -1
        """With which connection all of it was last read: a fail-over may have lost what is known here."""
        self._queued: dict[Place, bytes | None] = {}
        """What is not durable yet."""
        self._writing: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._next_reading: asyncio.Task[None] | None = None
        self._polling: asyncio.Task[None] | None = None
        self._watchers: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._changes = 0

    # --- what is known ---

    def all(self, kind: str) -> Mapping[str, bytes]:
        return self._known[kind]

    @property
    def version(self) -> int:
        return self._changes

    @property
    def closed(self) -> bool:
        return self._connections.closed

    def watch(self, kind: str, changed: Callable[[], None]) -> None:
        self._watchers[kind].append(changed)

    def _learn(self, kind: str, key: str, data: bytes | None) -> bool:
        known = self._known[kind]
        if known.get(key) == data:
            return False
        if data is None:
            del known[key]
        else:
            known[key] = data
        self._changes += 1
        return True

    # --- reading ---

    async def refresh(self) -> None:
        """A reading that is under way may have begun too early, so the next one counts, for all who wait."""
        if self._next_reading is None:
            self._next_reading = asyncio.create_task(self._read_after(self._reading))
        await asyncio.shield(self._next_reading)

    async def _read_after(self, earlier: "asyncio.Task[None] | None") -> None:
        if earlier is not None:
            await asyncio.wait([earlier])
        self._reading, self._next_reading = self._next_reading, None
        await self._read()
        self._start_polling()

    async def _read(self) -> None:
        connection = self._watch.connections
        after = self._version if connection == self._read_on else 0
        rows = await self._fetch(after)
        if rows[0]["version"] < after:  # a backup was restored
            after, rows = 0, await self._fetch(0)
        found = [(row["kind"], _text(row["key"]), row["data"]) for row in rows if row["kind"] is not None]
        news = (one for one in found if one[:2] not in self._queued)  # what is put here comes later
        changed = {kind for kind, key, data in news if self._learn(kind, key, data)}
        if after == 0:
            changed |= self._forget_all_but({(kind, key) for kind, key, data in found if data is not None})
        self._version, self._read_on = rows[0]["version"], connection
        for kind in changed:
            for tell in list(self._watchers[kind]):
                tell()

    def _forget_all_but(self, there: set[Place]) -> set[str]:
        gone = [(kind, key) for kind, known in self._known.items() for key in known]
        gone = [place for place in gone if place not in there and place not in self._queued]
        return {kind for kind, key in gone if self._learn(kind, key, None)}

    async def _fetch(self, after: int) -> list[Any]:
        return await self._connections.retried(lambda connection: connection.fetch(_NEWS, after))

    def _start_polling(self) -> None:
        if self._polling is None and not self._connections.closed:
            self._watch.watch(RECORDS, self._heard)
            self._polling = asyncio.create_task(self._poll())

    def _heard(self) -> None:
        if self._next_reading is None:
            self._next_reading = asyncio.create_task(self._read_after(self._reading))
            self._next_reading.add_done_callback(_ignored)

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            with suppress(LogError):
                await self.refresh()

    # --- changing ---

    def put(self, kind: str, key: str, data: bytes | None) -> None:
        self._learn(kind, key, data)
        self._queued[kind, key] = data
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
            self._writing.add_done_callback(_ignored)

    async def settled(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write_all(self) -> None:
        try:
            while self._queued:
                batch = dict(self._queued)
                await self._changing(lambda connection, version: _put(connection, batch, version))  # noqa: B023
                for place, data in batch.items():
                    if self._queued.get(place, b"") == data:
                        del self._queued[place]
        except BaseException:
            self._queued.clear()
            self._read_on = -1  # read everything again: what is known here is not so
            raise
        finally:
            self._writing = None

    async def put_new(self, kind: str, key: str, data: bytes) -> bytes:
        async def work(connection: Connection, version: int) -> bytes:
            found = await connection.fetchval(_FOUND, kind, _bytes(key))
            if found is None:
                await _put(connection, {(kind, key): data}, version)
            return data if found is None else found

        kept = await self._changing(work)
        await self.refresh()
        return kept

    async def take(self, kind: str, key: str, max_age: float) -> bytes | None:
        await self.settled()

        async def work(connection: Connection, version: int) -> bytes | None:
            found = await connection.fetchval(_YOUNG, kind, _bytes(key), max_age)
            await _put(connection, {(kind, key): None}, version)
            return found

        taken = await self._changing(work)
        self._learn(kind, key, None)
        return taken

    async def _changing(self, work: Callable[[Connection, int], Awaitable[Any]]) -> Any:
        async def alone(connection: Connection) -> Any:
            async with connection.transaction():
                done = await work(connection, await connection.fetchval(_NEXT))
                await connection.execute(_SWEEP)
                await connection.execute(_TELL, CHANNEL, RECORDS)
            return done

        return await self._connections.retried(alone)

    async def close(self) -> None:
        """What was put is written first, if the database can be reached."""
        with suppress(LogError):
            await self.settled()
        tasks = [task for task in (self._polling, self._reading, self._next_reading) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _put(connection: Connection, records: Mapping[Place, bytes | None], version: int) -> None:
    kinds, keys = [kind for kind, _ in records], [_bytes(key) for _, key in records]
    await connection.execute(_PUT, kinds, keys, list(records.values()), version)


def _bytes(key: str) -> bytes:
    """A key may be any text, such as the path of a folder."""
    return key.encode("utf-8", "surrogatepass")


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


def _ignored(task: "asyncio.Task[None]") -> None:
    """Whoever waits for it learns of its failure."""
    if not task.cancelled():
        task.exception()
