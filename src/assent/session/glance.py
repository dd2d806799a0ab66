"""Reads single rows on the event loop itself, where handing the question to a thread would cost ten times the answer.

It knows one connection that only reads, and nothing of sessions. SQLite's readers do not wait for its writers; what
would have to wait all the same, or goes wrong, is left to the thread, which says why.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from assent.session.writer import Job


class Glance:
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
            return job(self._connection)
        except sqlite3.Error:
            return await self._ask_thread(job)

    def _open(self) -> None:
        """Unless somebody who asked at the same time has done it, or it was closed meanwhile."""
        if self._connection is None and not self._closed:
            with suppress(sqlite3.Error):  # the next one tries again
                self._connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()
