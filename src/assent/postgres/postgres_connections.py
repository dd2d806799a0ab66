"""Connections to PostgreSQL: opened on first use, replaced when they break, with errors that people understand.

Two are direct and long-lived: one writes, one listens and holds the locks. The others only read, and come from a pool.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from assent.postgres.connection_protocol import Connection, Pool
from assent.postgres.postgres_schema import migrate
from assent.session.log import LogError, LogUnavailable

READERS = 4
CONNECT_SECONDS = 10.0
LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""The connection is lost, or its server cannot write at the moment: another attempt may succeed."""


class Connections:
    def __init__(self, url: str, schema: str) -> None:
        self._url = url
        self._schema = schema
        self._pool: Pool | None = None
        self._opening = asyncio.Lock()
        self._migrated = False
        self.closed = False

    async def connect(self) -> Connection:
        """A direct connection, which the caller closes."""
        if self.closed:
            raise LogUnavailable("the log is closed")
        connection = await self._open()
        try:
            await self._migrate(connection)
        except BaseException:
            await close_quietly(connection)
            raise
        return connection

    async def _migrate(self, connection: Connection) -> None:
        if not self._migrated:
            await migrate(connection, self._schema)
            self._migrated = True

    async def _open(self) -> Connection:
        opened: Any = await asyncpg.connect(self._url, timeout=CONNECT_SECONDS, **self._settings())  # pyright: ignore
        return opened  # pyright: ignore

    def _settings(self) -> dict[str, Any]:
        found = {"search_path": f'"{self._schema}"', "application_name": "assent"}
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
        sizes = {"min_size": 1, "max_size": READERS, "timeout": CONNECT_SECONDS}
        pool: Any = await asyncpg.create_pool(self._url, **sizes, **self._settings())  # pyright: ignore
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
        if self._pool is not None:
            await self._pool.close()

    def explained(self, error: BaseException) -> LogError:
        """A message that says what to do. The URL may contain a password, which it leaves out."""
        if isinstance(error, LogError):
            return error
        return LogUnavailable(f"the log at {self.place} {_problem(error)}")

    @property
    def place(self) -> str:
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


async def close_quietly(connection: Connection | None) -> None:
    """Also works if it is already broken."""
    if connection is not None:
        try:
            await connection.close()
        except (*LOST, asyncpg.PostgresError):
            connection.terminate()


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
        case asyncpg.ReadOnlySQLTransactionError():
            return "is read-only: it is probably a standby. Nothing was recorded"
        case asyncpg.PostgresError():
            return f"failed: {error}. Nothing was recorded"
        case _:
            return f"cannot be reached: {error or type(error).__name__}"
