"""One direct connection that listens for changes by other machines, and holds the locks of the sessions open here.

If it breaks, the server releases the locks. They are taken again, unless someone was faster, and all watchers are told
that something may have changed. The fence protects a session in between. A connection pooler that hands out
a connection per transaction cannot be used for this one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import asyncpg

from assent.postgres.append_batch import plain
from assent.postgres.connection_protocol import Connection
from assent.postgres.postgres_connections import LOST, Connections, close_quietly
from assent.postgres.postgres_writer import CHANNEL
from assent.session.log import LogError, SessionBusy, no_such_session, session_busy

RECONNECT_SECONDS = 0.5
BEAT_SECONDS = 5.0
"""How often the server is asked whether it is still there: a connection that only listens would never notice."""
TAKE_SECONDS = 5.0
TAKE_PAUSE = 0.02
RECORDS = " records"
"""What is told instead of a session when the records that nodes share have changed; no session is called that."""
_KEY = "hashtextextended(current_schema() || '/' || $1, 0)"
_LOCK = f"SELECT pg_try_advisory_lock({_KEY}) FROM sessions WHERE id = $1"
_LOCK_AGAIN = f"{_LOCK} AND ($2::bigint = 0 OR epoch = $2)"
_UNLOCK = f"SELECT pg_advisory_unlock({_KEY})"
_HOLDERS = f"""
FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = {_KEY}"""
IS_OPEN = f"SELECT CASE WHEN held THEN EXISTS (SELECT {_HOLDERS}) ELSE false END FROM sessions WHERE id = $1"
"""A process that dies leaves the mark, but no lock. Looking for a lock goes through those of the whole server, so it is
only done for marked sessions."""
_END_HOLDER = f"SELECT pg_terminate_backend(pid) {_HOLDERS}"


class PostgresWatch:
    def __init__(self, connections: Connections, own_process: Callable[[], int]) -> None:
        self._connections = connections
        self._own_process = own_process
        self._connection: Connection | None = None
        self._using = asyncio.Lock()
        """A connection does one thing at a time."""
        self.locked: dict[str, int] = {}
        """With the fence token, once it is known: whoever has a newer one is about to take the lock."""
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._reconnecting: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self.connections = 0
        """How many there have been."""

    # --- watching ---

    def watch(self, session: str, changed: Callable[[], None]) -> Callable[[], None]:
        """Every session, if the name is empty."""
        self._watchers.setdefault(session, []).append(changed)
        self._connect_soon()

        def stop() -> None:
            self._watchers[session].remove(changed)
            if not self._watchers[session]:
                del self._watchers[session]

        return stop

    def tell(self, session: str) -> None:
        for changed in list(self._watchers.get(session, ())):
            changed()

    def _tell_everyone(self) -> None:
        for session in list(self._watchers):
            self.tell(session)

    def _heard(self, _connection: object, process: int, _channel: str, payload: object) -> None:
        if process == self._own_process():
            return  # whoever writes here tells the watchers itself
        if payload == RECORDS:
            self.tell(RECORDS)
            return
        sessions = str(payload).split("\n") if payload else list(self._watchers)
        for session in dict.fromkeys([*sessions, ""]):
            self.tell(session)

    # --- locks ---

    async def lock(self, session: str) -> None:
        """Raises SessionBusy or NoSuchSession. The server releases it if this process dies."""
        if session in self.locked:
            raise session_busy(session)
        async with self._used() as connection:
            locked = await connection.fetchval(_LOCK, plain(session))
            if locked is None:
                raise no_such_session(session)
            if not locked:
                raise session_busy(session)
            self.locked[session] = 0

    def fenced(self, session: str, token: int) -> None:
        """The token that goes with the lock, unless that was lost meanwhile."""
        if session in self.locked:
            self.locked[session] = token

    async def take_lock(self, session: str) -> None:
        """Ends the connection that holds it: a process that is frozen, or whose machine is gone, cannot do so itself.
        If it is alive after all, it connects again and keeps its other sessions."""
        async with self._used() as connection:
            await connection.execute(_END_HOLDER, session)
        async with asyncio.timeout(TAKE_SECONDS):
            while True:
                try:
                    return await self.lock(session)
                except SessionBusy:
                    await asyncio.sleep(TAKE_PAUSE)

    async def unlock(self, session: str) -> None:
        self.locked.pop(session, None)
        if self._connection is not None and not self._connection.is_closed():
            async with self._used() as connection:
                await connection.execute(_UNLOCK, session)

    # --- the connection ---

    @asynccontextmanager
    async def _used(self) -> AsyncGenerator[Connection]:
        """The connection, for one at a time. If the server does not respond, it is given up."""
        async with self._using:
            connection = await self._connected()
            try:
                yield connection
            except LOST:
                connection.terminate()
                raise

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
            self.connections += 1
            self._tell_everyone()  # about what nobody listened to until now
        return self._connection

    async def _connect(self) -> Connection:
        connection = await self._connections.connect()
        try:
            await connection.add_listener(CHANNEL, self._heard)
            for session, token in list(self.locked.items()):
                if not await connection.fetchval(_LOCK_AGAIN, session, token):
                    self.locked.pop(session, None)  # someone else has it now, and our fence is no longer valid
        except BaseException:
            connection.terminate()
            raise
        connection.add_termination_listener(self._lost)
        self._beat_on()
        return connection

    def _beat_on(self) -> None:
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(*LOST, asyncpg.PostgresError, LogError):  # whoever reconnects tries until it succeeds
                async with self._used() as connection:
                    await connection.execute("SELECT 1")

    def _connect_soon(self) -> None:
        if not self._connections.closed and (self._reconnecting is None or self._reconnecting.done()):
            self._reconnecting = asyncio.create_task(self._keep_trying())

    async def _keep_trying(self) -> None:
        while not self._connections.closed:
            try:
                async with self._used():
                    return
            except (*LOST, asyncpg.PostgresError, LogError):
                await asyncio.sleep(RECONNECT_SECONDS)

    def _lost(self, connection: object) -> None:
        if connection is self._connection and not self._connections.closed:
            self._connection = None
            self._connect_soon()

    async def close(self) -> None:
        for task in (self._reconnecting, self._beating):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        self.locked.clear()
        connection, self._connection = self._connection, None
        await close_quietly(connection)
