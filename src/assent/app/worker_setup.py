"""Sets up a worker: a process that runs the sessions that an engine assigns to it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.engine_setup import Workspaces, make_remote_engine
from assent.app.model_access import ModelAccess
from assent.app.opening import LocalClient, SessionSetup, open_for_server
from assent.app.question_notices import QuestionNotices
from assent.app.storage import open_log, worker_directory
from assent.app.webhooks import Webhooks
from assent.app.worker_probe import WorkerProbe
from assent.bus.event_publisher import EventPublisher
from assent.config import Settings
from assent.session.log import LogError, SessionInfo, SessionLog, WorkspaceUnavailable

if TYPE_CHECKING:
    from assent.temporal.session_worker import SessionWorker
    from assent.temporal.temporal_engine import TemporalEngine

RETRY_SECONDS = 2.0
TIDY_SECONDS = 3600.0
"""How often a worker removes its copies of what belonged to deleted sessions."""

Say = Callable[[str], None]


class WorkerSetup(Struct, frozen=True, kw_only=True):
    """The options of `assent work`."""

    env: Mapping[str, str]
    settings: Settings
    engine: str
    workspaces: Workspaces
    host: str
    """The host whose workspaces it has; empty: the workspaces that every worker has."""
    roots: tuple[str, ...]
    """Sessions may work in these folders and below."""
    drain: float
    listen: tuple[str, int] = ("127.0.0.1", 0)
    """Where servers connect to receive events as they happen."""
    address: str = ""
    """Where people open the page."""
    probe: tuple[str, int] | None = None
    """Where it serves health and metrics, for monitoring."""

    def allows(self, folder: str) -> bool:
        real = os.path.realpath(folder)
        return any(real == root or real.startswith(root.rstrip("/") + "/") for root in self.roots)


async def work(setup: WorkerSetup, stop: asyncio.Event, say: Say) -> None:
    """Runs sessions until it is told to stop; waits for the engine if it cannot be reached."""
    log = open_log(setup.env, busy=True)
    notices = QuestionNotices(log.info, Webhooks(setup.settings.webhooks, setup.env))
    notices.address = setup.address
    publisher = EventPublisher(worker_directory(log), *setup.listen)
    tidying = asyncio.create_task(_keep_tidy(setup.env, log))
    try:
        engine = make_remote_engine(log, setup.engine, setup.workspaces)
        await publisher.start()
        worker = _make_worker(log, engine, setup, publisher, notices)
        async with _probed(_Figures(worker, publisher, log, stop), setup, log, say):
            await _run(worker, engine, stop, say)
    finally:
        tidying.cancel()
        await publisher.close()
        await notices.close()
        await log.close()


class _Figures:
    """What the probe reports about a worker."""

    def __init__(
        self, worker: "SessionWorker", publisher: EventPublisher, log: SessionLog, stop: asyncio.Event
    ) -> None:
        self._worker, self._publisher, self._log, self._stop = worker, publisher, log, stop

    @property
    def open_sessions(self) -> int:
        return self._worker.open_sessions

    @property
    def most_sessions(self) -> int:
        return self._worker.most_sessions

    @property
    def servers(self) -> int:
        return self._publisher.servers

    @property
    def backlog(self) -> int:
        return self._log.backlog

    @property
    def connected(self) -> bool:
        return self._worker.running

    @property
    def draining(self) -> bool:
        return self._stop.is_set()


@asynccontextmanager
async def _probed(figures: _Figures, setup: WorkerSetup, log: SessionLog, say: Say) -> AsyncGenerator[None]:
    if setup.probe is None:
        yield
        return
    probe = WorkerProbe(figures, log.try_writing)
    host, port = setup.probe[0], await probe.start(*setup.probe)
    say(f"health and metrics are at http://{host}:{port}/readyz and /metrics")
    try:
        yield
    finally:
        await probe.close()


def _make_worker(
    log: SessionLog,
    engine: "TemporalEngine",
    setup: WorkerSetup,
    publisher: EventPublisher,
    notices: QuestionNotices,
) -> "SessionWorker":
    from assent.temporal.session_worker import SessionActivity, SessionWorker
    from assent.temporal.sweeper import Sweeper

    models = ModelAccess(setup.env, setup.settings)

    async def opened(session: SessionInfo, token: int) -> LocalClient:
        if not setup.allows(session.folder):
            raise WorkspaceUnavailable(
                f"this worker may not use {session.folder}; it may only use folders below {_list(setup.roots)}"
            )
        how = SessionSetup(
            env=setup.env,
            settings=models.settings,
            client=engine.shared,
            token=token,
            models=models,
            listeners=(publisher.on_event, notices.on_event),
        )
        return await open_for_server(log, how, session)

    sessions = SessionActivity(log, opened, closed=publisher.forget)
    return SessionWorker(sessions, Sweeper(log, engine.wake, engine.shared), setup.host, setup.drain)


async def _run(worker: "SessionWorker", engine: "TemporalEngine", stop: asyncio.Event, say: Say) -> None:
    while not stop.is_set():
        try:
            client = await engine.address.connect()
            say(f"ready; working for {engine.address}")
            await worker.run(client, stop)
        except (LogError, RuntimeError) as error:  # RuntimeError: what the SDK raises if its server cannot be used
            say(f"{error}; trying again")
            await _pause(stop)


async def _keep_tidy(env: Mapping[str, str], log: SessionLog) -> None:
    """Runs until cancelled."""
    from assent.app.session_blobs import forget_deleted

    while True:
        with suppress(LogError):
            await forget_deleted(env, log)
        await asyncio.sleep(TIDY_SECONDS)


async def _pause(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(RETRY_SECONDS):
            await stop.wait()
    except TimeoutError:
        pass


def _list(folders: tuple[str, ...]) -> str:
    return ", ".join(folders)
