"""Reads a few rows on the event loop itself, where handing the question to a thread would cost ten times the answer.

It knows one connection that only reads, and nothing of sessions. A job sees one state, whatever is written meanwhile.
SQLite's readers do not wait for its writers; what would have to wait all the same, or goes wrong, is left to the
thread, which says why.
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
            found = await self._ask_thread(job)  # once it has answered there is a database to look into
            self._open()
            return found
        try:
            return _at_one_moment(self._connection, job)
        except sqlite3.Error:
            return await self._ask_thread(job)

    def _open(self) -> None:
        """Unless somebody who asked at the same time has done it, or it was closed meanwhile."""
        if self._connection is None and not self._closed:
            with suppress(sqlite3.Error):  # the next one tries again
                place = f"{self._path.absolute().as_uri()}?mode=ro"
                self._connection = sqlite3.connect(place, uri=True, timeout=0, isolation_level=None)

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()


def _at_one_moment(connection: sqlite3.Connection, job: Job) -> Any:
    """Without a transaction each question of the job would be answered from another state."""
    connection.execute("BEGIN")
    try:
        return job(connection)
    finally:
        connection.execute("ROLLBACK")
