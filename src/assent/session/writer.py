"""One thread that owns one SQLite connection: everything queued during a commit shares the next commit.

It knows connections and transactions, and nothing about sessions. If a job raises LogError, only that job is refused;
any other error rolls back the whole transaction, and no job in it is reported as successful.
"""

import asyncio
import math
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from assent import failpoints
from assent.session.log import LogDamaged, LogError, LogUnavailable

Job = Callable[[sqlite3.Connection], Any]
POLL_SECONDS = 0.1
"""How soon a change made by another process is noticed."""
RECENT_SECONDS = 0.003
"""After a commit this recent, another one is likely to follow soon."""


class _Queued(Struct, kw_only=True):
    job: Job
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop
    reads: bool
    value: Any = None
    error: BaseException | None = None

    def resolve(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


class Writer:
    def __init__(
        self,
        path: str,
        connect: Callable[[], sqlite3.Connection],
        foreign_change: Callable[[], None],
        gather: float = 0.0,
    ) -> None:
        """When commits follow closely, each waits `gather` seconds for more jobs to share it."""
        self._path = path
        self._gather = gather
        self._committed_at = -math.inf
        self._looked_at = 0.0
        self._version = 0
        """The version of the file, as changed by other processes."""
        self._connect = connect
        self._foreign_change = foreign_change
        self._jobs: queue.SimpleQueue[_Queued | None] = queue.SimpleQueue()
        self._closed = False
        self._watching = False
        self._thread = threading.Thread(target=self._run, name="session-log", daemon=True)
        self._thread.start()

    def submit(self, job: Job, *, reads: bool = False) -> "asyncio.Future[Any]":
        """Queues the job immediately, in this order. One that only `reads` does not take the write lock."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if self._closed:
            future.set_exception(LogUnavailable("the session log is closed"))
        else:
            self._jobs.put(_Queued(job=job, future=future, loop=loop, reads=reads))
        return future

    @property
    def waiting(self) -> int:
        return self._jobs.qsize()

    def watch(self, on: bool) -> None:
        """Starts or stops looking for changes by other processes."""
        if self._watching != on:
            self._watching = on
            woken = self.submit(lambda db: None, reads=True)  # wakes the thread
            woken.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # failures are reported elsewhere

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    # --- in the thread ---

    def _run(self) -> None:
        connection = self._try_connect([])  # now, so that the file is open before the first job
        while True:
            group = self._next_group()
            if group and connection is None:
                connection = self._try_connect(group)
            if connection is not None:
                if group:
                    self._commit(connection, group)
                    self._committed_at = time.monotonic()
                self._look_for_foreign_change(connection)
            if group is None:
                break
        if connection is not None:
            connection.close()

    def _next_group(self) -> list[_Queued] | None:
        """All jobs queued now; empty if it is only time to poll; None if it is time to stop."""
        try:
            first = self._jobs.get(timeout=POLL_SECONDS if self._watching else None)
        except queue.Empty:
            return []
        if first is None:
            return None
        if self._gather and time.monotonic() - self._committed_at < RECENT_SECONDS:
            time.sleep(self._gather)
        group = [first]
        while not self._jobs.empty():
            following = self._jobs.get()
            if following is None:
                self._jobs.put(None)  # stop after this group
                break
            group.append(following)
        return group

    def _try_connect(self, group: list[_Queued]) -> sqlite3.Connection | None:
        try:
            return self._connect()
        except (sqlite3.Error, OSError, LogError) as error:
            self._give_up(group, error)
            return None

    def _commit(self, connection: sqlite3.Connection, group: list[_Queued]) -> None:
        writes = not all(queued.reads for queued in group)
        try:
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            for queued in group:
                try:
                    queued.value = queued.job(connection)
                except LogError as error:
                    queued.error = error
            if writes:
                failpoints.hit("before commit")
            connection.execute("COMMIT")
            if writes:
                failpoints.hit("after commit")
        except Exception as error:
            _roll_back(connection)
            self._give_up(group, error)
        else:
            _resolve(group)

    def _give_up(self, group: list[_Queued], error: Exception) -> None:
        for queued in group:
            queued.error = _explain(error, self._path)
        _resolve(group)

    def _look_for_foreign_change(self, connection: sqlite3.Connection) -> None:
        now = time.monotonic()
        if not self._watching or now - self._looked_at < POLL_SECONDS / 2:
            return
        self._looked_at = now
        try:
            version: int = connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            return
        if version != self._version:
            self._foreign_change()
        self._version = version


def _resolve(group: list[_Queued]) -> None:
    for loop in {queued.loop for queued in group}:
        mine = [queued for queued in group if queued.loop is loop]
        try:
            loop.call_soon_threadsafe(lambda mine=mine: [queued.resolve() for queued in mine])
        except RuntimeError:  # the loop is gone, and with it whoever was waiting
            continue


def _roll_back(connection: sqlite3.Connection) -> None:
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error:
        pass  # the error that brought us here is the one to report


def _no_space(path: str) -> bool:
    """SQLite reports an I/O error if there is no space to create its journal."""
    try:
        free = os.statvfs(os.path.dirname(path))
    except OSError:
        return False
    return free.f_bavail * free.f_frsize < 64 << 10


def _explain(error: Exception, path: str) -> Exception:
    """Turns SQLite's and the system's errors into messages that say what to do."""
    if isinstance(error, LogError):
        return error
    text = error.strerror or "" if isinstance(error, OSError) else str(error)  # without the path: it may say anything
    if isinstance(error, sqlite3.DatabaseError) and ("malformed" in text or "not a database" in text):
        return LogDamaged(
            f"the session log {path} is damaged ({text}). Move it away to start afresh; keep it for recovery"
        )
    if "full" in text or "No space" in text or ("disk I/O" in text and _no_space(path)):
        return LogUnavailable(
            f"the disk that holds {path} is full. Nothing was recorded; free some space and try again"
        )
    if "readonly" in text or "ead-only" in text or "unable to open" in text or "ermission" in text:
        return LogUnavailable(f"cannot write the session log {path} ({text}). Check its permissions and the disk")
    if "locked" in text:
        return LogUnavailable(f"the session log {path} has been locked by another program for too long; try again")
    return LogUnavailable(f"the session log {path} failed: {text}. Nothing was recorded")
