"""Everything the routes work with, set up once."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.engine_setup import LINGER_SECONDS, MAX_RESTING, EngineSetup, Workspaces, make_engine
from assent.app.model_access import ModelAccess
from assent.app.model_catalog import ModelCatalog
from assent.app.question_notices import QuestionNotices
from assent.app.session_log import SessionLog
from assent.app.storage import blob_store, shared_state
from assent.app.webhooks import Webhooks
from assent.config import Settings
from assent.events import Envelope
from assent.front.web.answer_priority import AnswerPriority
from assent.front.web.call_output import CallOutputs
from assent.front.web.command_gateway import CommandGateway
from assent.front.web.event_stream import Streams
from assent.front.web.feeds import Feeds
from assent.front.web.file_completion import Completion
from assent.front.web.live_replies import Replies
from assent.front.web.model_metrics import ModelMetrics
from assent.front.web.named_prompts import Prompts
from assent.front.web.overview import Overview
from assent.front.web.problems import Problem
from assent.front.web.push_storage import PUSH, PushFile, SharedPush
from assent.front.web.push_subscriptions import PushSubscriptions
from assent.front.web.readiness import Readiness
from assent.front.web.request_limits import RequestLimits
from assent.front.web.server_access import Access
from assent.front.web.server_log import ServerLog
from assent.front.web.state_cache import StateCache
from assent.front.web.traffic import Traffic
from assent.front.web.waiting_inputs import WaitingInputs
from assent.transient_events import Queued

if TYPE_CHECKING:  # only for a server whose sessions run on workers
    from assent.app.live_events import EventSubscriber, Heard


class Setup(Struct, frozen=True, kw_only=True):
    """The options of `assent serve`."""

    settings: Settings
    env: Mapping[str, str]
    user: str
    folder: str
    """The default folder of new sessions."""
    roots: tuple[str, ...]
    """Sessions may work in these folders and below."""
    limits: RequestLimits = RequestLimits()
    models: tuple[str, ...] = ()
    """Patterns of models in files that sessions may use, besides those that the settings name."""
    linger: float = LINGER_SECONDS
    max_resting: int = MAX_RESTING
    remote_engine: str = ""
    """The URL of the engine whose workers run the sessions; empty: they run in this server."""
    workspaces: Workspaces = ()
    """Which hosts have which folders; all workers have the others."""

    def engine(self, models: ModelAccess) -> EngineSetup:
        return EngineSetup(
            env=self.env,
            models=models,
            linger=self.linger,
            max_resting=self.max_resting,
            engine=self.remote_engine,
            workspaces=self.workspaces,
        )

    def allows(self, folder: str) -> bool:
        return any(folder == root or folder.startswith(root.rstrip("/") + "/") for root in self.roots)


class AppState:
    def __init__(self, log: SessionLog, setup: Setup, data: Path, server_log: ServerLog) -> None:
        self.log, self.setup, self.server_log = log, setup, server_log
        self.shared = shared_state(log)
        self.access = Access(data, log.audit, setup.user, setup.limits, server_log, self.shared)
        self.answer_priority = AnswerPriority()
        self.models = ModelAccess(setup.env, setup.settings)
        self.catalog = ModelCatalog(self.models)
        listeners: list[Callable[[Envelope], None]] = []
        self.engine = make_engine(log, setup.engine(self.models), listeners, self.answer_priority.give_way)
        self.states = StateCache(log, self.engine)
        self.inputs = WaitingInputs(log)
        self.overview = Overview(log, self.inputs)
        self.feeds = Feeds(log, self.engine.state)
        self.gateway = CommandGateway(log, self.engine)
        self.streams = Streams(log, self.feeds, self.overview, setup.limits, self.access.tokens.holds, self._queued)
        self.completion = Completion()
        self.blobs = blob_store(log, setup.settings.blobs, setup.env)
        self.outputs = CallOutputs(setup.env, self.blobs)
        self.replies = Replies()
        self.prompts = Prompts(log, self.gateway, setup.env, self.engine.servers)
        self.readiness = Readiness(log.try_writing)
        self.traffic = Traffic()
        self.model_metrics = ModelMetrics()
        store = PushFile(data / PUSH) if self.shared is None else SharedPush(self.shared)
        self.push = PushSubscriptions(store, setup.settings.push, self.access.tokens, setup.env)
        webhooks = () if setup.remote_engine else setup.settings.webhooks  # workers send them, once
        self.notices = QuestionNotices(log.info, Webhooks(webhooks, setup.env), self.push)
        listeners += self._listeners()  # only now: most of them need the engine
        self.live = _subscribe(log, self._heard) if setup.remote_engine else None
        self._stop_watching: Callable[[], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def _listeners(self) -> list[Callable[[Envelope], None]]:
        parts = (
            self.feeds,
            self.inputs,
            self.overview,
            self.gateway,
            self.outputs,
            self.replies,
            self.prompts,
            self.model_metrics,
            self.notices,
        )
        return [part.on_event for part in parts]

    @property
    def settings(self) -> Settings:
        """They may be reloaded."""
        return self.models.settings

    def use_settings(self, settings: Settings) -> None:
        """For sessions that are opened from now on; those that run keep theirs."""
        self.models.use(settings)

    def _queued(self, session: str) -> tuple[Queued, ...]:
        state = self.engine.state(session)
        return () if state is None else state.queued

    def _heard(self, envelope: Envelope, newest: int) -> None:
        """An event of a session that a worker runs."""
        self.feeds.on_remote_event(envelope, newest)
        for part in (self.inputs, self.overview, self.gateway, self.outputs, self.replies, self.prompts, self.notices):
            part.on_event(envelope)

    async def start(self) -> None:
        self.access.tokens.watch(self.streams.end_invalid)
        if self.live is not None:
            self.live.start()
        self._stop_watching = self.log.watch_all(self._others_changed)
        await self.overview.start()
        await self.engine.start()
        self.streams.start()

    def _others_changed(self) -> None:
        self.overview.touch_all()
        task = asyncio.create_task(self.feeds.others_changed())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Ends the streams and stops what is running; what is waiting stays in the log."""
        if self._stop_watching is not None:
            self._stop_watching()
        self.streams.stop()
        if self.live is not None:
            await self.live.close()
        await self.catalog.close()
        await self.prompts.close()
        await self.engine.drain()
        await self.notices.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _subscribe(log: SessionLog, heard: "Heard") -> "EventSubscriber":
    from assent.app.live_events import subscribe

    return subscribe(log, heard)


def real_folder(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def wanted_folder(setup: Setup, given: str | None) -> str:
    """The folder for a new session; raises Problem if it is not allowed."""
    if given is not None and ("\0" in given or not os.path.isabs(os.path.expanduser(given))):
        raise Problem("invalid", "the folder must be an absolute path, e.g. /home/ann/shop")
    find = os.path.normpath if setup.remote_engine else real_folder  # a server without workspaces cannot look
    folder = find(os.path.expanduser(given)) if given is not None else setup.folder
    if not setup.allows(folder):
        raise Problem("invalid", f"sessions on this server may only work below: {', '.join(setup.roots)}")
    if not setup.remote_engine and not os.path.isdir(folder):
        raise Problem("invalid", f"there is no folder {folder}")
    return folder
