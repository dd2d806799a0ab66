"""A worker: runs the sessions that Temporal assigns to it.

A session that is open here sends a heartbeat every second. It is closed when it has been idle for a while, when this
worker stops, or when the engine assigns it to another worker.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import PollerBehaviorSimpleMaximum, UnsandboxedWorkflowRunner, Worker

from assent.session.engine import CANNOT_OPEN, OpenSession
from assent.session.log import (
    LogError,
    LogUnavailable,
    LostFence,
    NoSuchSession,
    SessionBusy,
    SessionInfo,
    SessionLog,
    WorkspaceUnavailable,
)
from assent.session.parked_work import has_work
from assent.session.server_clients import WORK
from assent.temporal.session_workflow import ACTIVITY, Attempt, Ended, SessionWorkflow
from assent.temporal.sweeper import Sweeper
from assent.temporal.temporal_engine import QUEUE, queue_of_host

BEAT_SECONDS = 1.0
LINGER_SECONDS = 5.0
"""Seconds for which an idle session stays open: it is likely to be used again."""
MAX_SESSIONS = 500
"""How many sessions run in one worker at the same time."""
DRAIN_SECONDS = 60.0
"""Seconds that running turns get to end, or to reach their next question, when a worker stops. Longer ones are
interrupted, as when a server stops."""
SHUTDOWN_SECONDS = 30.0
"""Seconds that a worker then has to close its sessions and to tell the engine that it is stopping."""
POLLERS = PollerBehaviorSimpleMaximum(2)
"""Few, because the engine assigns sessions to each poller of a frozen worker before it gives up on the worker."""

Opener = Callable[[SessionInfo, int], Awaitable[OpenSession]]
"""Opens a session with a fence token."""


class SessionActivity:
    """Runs one session per call."""

    def __init__(
        self,
        log: SessionLog,
        opener: Opener,
        *,
        linger: float = LINGER_SECONDS,
        beat: float = BEAT_SECONDS,
        closed: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._opener, self._linger, self._beat, self._clock = log, opener, linger, beat, clock
        self._closed = closed
        """Called with each session that no longer runs here."""
        self._attempts: dict[str, asyncio.Task[object]] = {}
        self.open: dict[str, OpenSession] = {}

    @activity.defn(name=ACTIVITY)
    async def run_session(self, attempt: Attempt) -> Ended:
        older = self._attempts.get(attempt.session)
        this = self._attempts[attempt.session] = _this_task()
        beating = asyncio.create_task(self._beat_on())  # opening may take a while, and so may closing
        try:
            if older is not None:
                await _stop(older)
            return await self._run(attempt)
        finally:
            beating.cancel()
            if self._attempts.get(attempt.session) is this:
                del self._attempts[attempt.session]

    async def _run(self, attempt: Attempt) -> Ended:
        try:
            opened = await self._opener(await self._log.info(attempt.session), attempt.token)
        except LostFence:
            return Ended("refused")
        except NoSuchSession:
            return Ended("parked")
        except SessionBusy as error:
            return await self._busy(attempt.session, error)
        except WorkspaceUnavailable as error:
            return Ended("cannot_open", str(error))
        except LogUnavailable as error:
            raise ApplicationError(str(error)) from error
        except CANNOT_OPEN as error:
            return Ended("cannot_open", str(error))
        self.open[attempt.session] = opened
        try:
            await self._until_over(opened)
        finally:
            await _finish(self._close(attempt.session, opened))
        return Ended("again" if await has_work(self._log, attempt.session) else "parked")

    async def _close(self, session: str, opened: OpenSession) -> None:
        del self.open[session]
        with suppress(LogError):
            await opened.close()
        self._closed(session)

    async def _busy(self, session: str, error: SessionBusy) -> Ended:
        """If a person has it open in a terminal, it continues there. But a worker that is closing it, for an older
        attempt, is about to release it."""
        info = (await self._log.infos([session])).get(session)
        if info is not None and info.client in (WORK, "") and await has_work(self._log, session):
            raise ApplicationError(str(error)) from error
        return Ended("parked")

    async def _until_over(self, opened: OpenSession) -> None:
        """Raises ApplicationError if the session can no longer write."""
        rests_since: float | None = None
        while True:
            if (failure := opened.runner.failure) is not None:
                raise ApplicationError(str(failure)) from failure
            rests_since = (rests_since or self._clock()) if opened.runner.resting else None
            if rests_since is not None and self._long_enough(rests_since):
                return
            await asyncio.sleep(self._beat)

    def _long_enough(self, rests_since: float) -> bool:
        return activity.is_worker_shutdown() or self._clock() - rests_since >= self._linger

    async def _beat_on(self) -> None:
        """Not at once: the engine has just assigned the session, and someone waits for it to be opened."""
        while True:
            await asyncio.sleep(self._beat)
            activity.heartbeat()


class SessionWorker:
    """Runs until it is told to stop. `host` is empty if every worker has every workspace."""

    def __init__(
        self,
        sessions: SessionActivity,
        sweeper: Sweeper,
        host: str = "",
        drain: float = DRAIN_SECONDS,
    ) -> None:
        self._sessions, self._sweeper, self._host, self._drain = sessions, sweeper, host, drain
        self.most_sessions = MAX_SESSIONS
        self.running = False
        """Whether it takes sessions from the engine."""

    @property
    def open_sessions(self) -> int:
        return len(self._sessions.open)

    async def run(self, client: Client, stop: asyncio.Event) -> None:
        workers = self._workers(client)
        running = [asyncio.create_task(worker.run()) for worker in workers]
        sweeping = asyncio.create_task(self._sweeper.run())
        stopping = asyncio.create_task(stop.wait())
        self.running = True
        try:
            await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.running = False
            for task in (stopping, sweeping):
                task.cancel()
            await self._shut_down(workers, running)

    async def _shut_down(self, workers: Sequence[Worker], running: Sequence["asyncio.Task[None]"]) -> None:
        """Raises what made a worker fail. The library sometimes never finishes its shutdown, after all sessions are
        closed; we do not wait for that.
        """
        stopping = asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.wait(running, timeout=self._drain + SHUTDOWN_SECONDS)
        stopping.cancel()
        unfinished = [task for task in running if task.cancel()]
        await asyncio.gather(stopping, *unfinished, return_exceptions=True)
        await asyncio.gather(*(task for task in running if task not in unfinished))

    def _workers(self, client: Client) -> list[Worker]:
        """All of them run workflows, which need no workspace; sessions come from the queue of the host."""
        own = queue_of_host(self._host)
        if own == QUEUE:
            return [self._worker(client, QUEUE, sessions=True, workflows=True)]
        return [
            self._worker(client, QUEUE, sessions=False, workflows=True),
            self._worker(client, own, sessions=True, workflows=False),
        ]

    def _worker(self, client: Client, queue: str, *, sessions: bool, workflows: bool) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            workflows=[SessionWorkflow] if workflows else [],
            activities=[self._sessions.run_session] if sessions else [],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=MAX_SESSIONS,
            max_cached_workflows=0,  # a workflow that is cached in a lost worker would wait for it; histories are short
            workflow_task_poller_behavior=POLLERS,
            activity_task_poller_behavior=POLLERS,
            graceful_shutdown_timeout=timedelta(seconds=self._drain),
            max_heartbeat_throttle_interval=timedelta(seconds=BEAT_SECONDS),
            default_heartbeat_throttle_interval=timedelta(seconds=BEAT_SECONDS),
        )


def _this_task() -> "asyncio.Task[object]":
    task = asyncio.current_task()
    assert task is not None
    return task


async def _finish(work: Coroutine[None, None, None]) -> None:
    """Wait for work that must not be interrupted: whoever cancels us once may do it again while we clean up."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    task.result()


async def _stop(older: "asyncio.Task[object]") -> None:
    """An attempt in this process that the engine has given up, for example because it could not be reached."""
    older.cancel()
    await asyncio.wait([older])
