"""Connections to PostgreSQL: opened on first use, replaced when they break, with errors that people understand.

Two are direct and long-lived: one writes, one listens and holds the locks. The others only read, and come from a pool.
A server that falls silent, and one that hears nothing more from us, must both find out, or a lock outlives its holder.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from asyncpg.exceptions import InternalClientError, TargetServerAttributeNotMatched

from assent.postgres.connection_protocol import Connection, Pool
from assent.postgres.database_hosts import one_url_per_host
from assent.postgres.postgres_schema import migrate
from assent.session.log import LogError, LogUnavailable

READERS = 4
CONNECT_SECONDS = 10.0
"""For one host. The next one is tried as soon as this one refuses, and at the latest after this time."""
CONNECT_SECONDS_OF_SEVERAL = 3.0
"""If several hosts are named: one that is down often says nothing at all."""
ANSWER_SECONDS = 10.0
"""A statement that takes longer is given up: the server is gone, or waits for a standby that is."""
CLOSE_SECONDS = 3.0
IDLE_IN_TRANSACTION_SECONDS = 5.0
"""Then the server ends the transaction of a process that was frozen in the middle of it: others wait for its locks."""
LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.DeadlockDetectedError,
    InternalClientError,  # a connection that broke in an unlucky moment; also: no host of several can write
)
"""The connection is lost, or its server cannot write at the moment: another attempt may succeed."""


class Connections:
    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._hosts = one_url_per_host(url)
        """The one that was last able to write comes first."""
        self._schema = schema
        self._pool: Pool | None = None
        self._opening = asyncio.Lock()
        self._migrated = False
        self.closed = False

    async def connect(self) -> Connection:
        """A direct connection, which the caller closes."""
        if self.closed:
            raise LogUnavailable("the log is closed")
        if not self._migrated:
            await self._migrate()
        return await self._open(ANSWER_SECONDS)

    async def _migrate(self) -> None:
        """On a connection of its own: a migration may take long."""
        connection = await self._open(None)
        try:
            await migrate(connection, self._schema)
        finally:
            await close_quietly(connection)
        self._migrated = True

    async def _open(self, limit: float | None) -> Connection:
        """At the first host that can write. asyncpg would give all of them together one time limit, which a host that
        says nothing uses up."""
        problem: Exception = TargetServerAttributeNotMatched("no host can write")
        for url in list(self._hosts):
            try:
                opened = await self._open_at(url, limit)
            except LOST as error:
                problem = error
                continue
            self._hosts.sort(key=lambda one: one != url)
            return opened
        raise problem

    async def _open_at(self, url: str, limit: float | None) -> Connection:
        seconds = CONNECT_SECONDS if len(self._hosts) == 1 else CONNECT_SECONDS_OF_SEVERAL
        opened: Any = await asyncpg.connect(url, timeout=seconds, command_timeout=limit, **self._settings())  # pyright: ignore
        return opened  # pyright: ignore

    def _settings(self) -> dict[str, Any]:
        idle = int(IDLE_IN_TRANSACTION_SECONDS * 1000)
        alive = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
        found = {"search_path": f'"{self._schema}"', "application_name": "assent"}
        found |= {"idle_in_transaction_session_timeout": str(idle), **alive}
        return {"server_settings": found, "target_session_attrs": "read-write"}

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[Connection]:
        """A connection from the pool; raises LogError if the database cannot be used."""
        async with self.explaining():
            pool = await self._open_pool()
            async with pool.acquire() as connection:
                yield connection

    @asynccontextmanager
    async def explaining(self) -> AsyncGenerator[None]:
        """Turns the errors of a connection into LogError."""
        try:
            yield
        except (*LOST, asyncpg.PostgresError) as error:
            raise self.explained(error) from error

    async def _open_pool(self) -> Pool:
        if self._pool is None:
            async with self._opening:
                if self._pool is None:
                    await (await self.connect()).close()  # migrates, and fails with a clear error
                    self._pool = await self._new_pool()
        return self._pool

    async def _new_pool(self) -> Pool:
        async def connect(*_: object, **__: object) -> Connection:
            return await self._open(ANSWER_SECONDS)

        pool: Any = await asyncpg.create_pool(min_size=0, max_size=READERS, connect=connect, reset=_leave_as_it_is)  # pyright: ignore
        return pool

    async def retried(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        """Runs it on a connection of the pool, and once more if that is broken, as after a restart of the server. The
        work must tolerate being done twice."""
        try:
            async with self.reading() as connection:
                return await work(connection)
        except LogUnavailable:
            async with self.reading() as connection:
                return await work(connection)

    async def close(self) -> None:
        self.closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await _close(pool)

    def explained(self, error: BaseException) -> LogError:
        """A message that says what to do. The URL may contain a password, which it leaves out."""
        if isinstance(error, LogError):
            return error
        return LogUnavailable(f"the log at {self.place} {_problem(error)}")

    @property
    def place(self) -> str:
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


async def _leave_as_it_is(_: object) -> None:
    """Nobody who reads changes a setting, locks or listens. The default would forget all of that, in one more round
    trip for each use; the pool itself rolls back what was left open."""


async def close_quietly(connection: Connection | None) -> None:
    """Also works if it is already broken."""
    if connection is not None:
        await _close(connection)


async def _close(closing: Connection | Pool) -> None:
    """A server that does not respond must not keep a process from ending."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await closing.close()
    except (*LOST, asyncpg.PostgresError):
        closing.terminate()


def _problem(error: BaseException) -> str:
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError():
            return f"refused the login: {error}"
        case asyncpg.InvalidCatalogNameError():
            return f"has no such database: {error}"
        case asyncpg.InsufficientPrivilegeError():
            return f"does not let this user do that: {error}"
        case asyncpg.DiskFullError():
            return "has no space left. Nothing was recorded; free some space and try again"
        case asyncpg.ReadOnlySQLTransactionError() | TargetServerAttributeNotMatched():
            return "is read-only: it is probably a standby. Nothing was recorded"
        case asyncpg.PostgresError():
            return f"failed: {error}. Nothing was recorded"
        case _:
            return f"cannot be reached: {error or type(error).__name__}"
