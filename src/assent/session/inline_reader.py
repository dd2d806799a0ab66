"""Reads a few rows on the event loop itself, where handing the query to a thread would cost ten times as much.

It knows one read-only connection, and nothing about sessions. A job sees one state, whatever is written meanwhile.
SQLite's readers do not wait for its writers; a job that would have to wait anyway, or fails, is left to the thread,
which reports why.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from assent.session.writer import Job


class InlineReader:
    def __init__(self, path: Path, ask_thread: Callable[[Job], Awaitable[Any]]) -> None:
        self._path = path
        self._ask_thread = ask_thread
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    async def __call__(self, job: Job) -> Any:
        if self._connection is None:
            found = await self._ask_thread(job)  # once it has answered, the database exists
            self._open()
            return found
        try:
            return _in_transaction(self._connection, job)
        except sqlite3.Error:
            return await self._ask_thread(job)

    def _open(self) -> None:
        """Unless a concurrent job has done it, or it was closed meanwhile."""
        if self._connection is None and not self._closed:
            with suppress(sqlite3.Error):  # the next job tries again
                place = f"{self._path.absolute().as_uri()}?mode=ro"
                self._connection = sqlite3.connect(place, uri=True, timeout=0, isolation_level=None)

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()


def _in_transaction(connection: sqlite3.Connection, job: Job) -> Any:
    """Without a transaction, each query of the job could see another state."""
    connection.execute("BEGIN")
    try:
        return job(connection)
    finally:
        connection.execute("ROLLBACK")
