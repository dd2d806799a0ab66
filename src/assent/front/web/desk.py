"""Everything that the routes work with, put together once."""

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from assent.config import Settings
from assent.events import Envelope, Queued
from assent.front.web.completion import Completion
from assent.front.web.feeds import Feeds
from assent.front.web.limits import Limits
from assent.front.web.office import Office
from assent.front.web.opener import CLIENT, Opener
from assent.front.web.outputs import Outputs
from assent.front.web.overview import Overview
from assent.front.web.precedence import Precedence
from assent.front.web.problems import Problem
from assent.front.web.prompts import Prompts
from assent.front.web.readiness import Readiness
from assent.front.web.replies import Replies
from assent.front.web.states import States
from assent.front.web.stream import Streams
from assent.front.web.tokens import LoginCodes, TokenStore
from assent.session.engine import LINGER, MOST_RESTING, LocalEngine
from assent.session.log import SessionLog


class Setup(Struct, frozen=True, kw_only=True):
    """What `assent serve` was told."""

    settings: Settings
    env: Mapping[str, str]
    user: str
    folder: str
    """Where new sessions work when nothing else is said."""
    roots: tuple[str, ...]
    """Sessions work in these folders or below."""
    limits: Limits = Limits()
    linger: float = LINGER
    most_resting: int = MOST_RESTING

    @property
    def model(self) -> str:
        return self.env.get("ASSENT_MODEL") or self.settings.model

    def allows(self, folder: str) -> bool:
        return any(folder == root or folder.startswith(root.rstrip("/") + "/") for root in self.roots)


class Desk:
    def __init__(self, log: SessionLog, setup: Setup, tokens: TokenStore) -> None:
        self.log, self.setup, self.tokens = log, setup, tokens
        self.codes = LoginCodes()
        self.precedence = Precedence()
        self.opener = Opener(log, setup.settings, setup.env, self._heard, self.precedence.give_way)
        self.engine = LocalEngine(log, self.opener, CLIENT, linger=setup.linger, most_resting=setup.most_resting)
        self.states = States(log, self.engine)
        self.overview = Overview(log)
        self.feeds = Feeds(log, self.engine.runner)
        self.office = Office(log, self.engine, self.states, self.precedence)
        self.streams = Streams(log, self.feeds, self.overview, setup.limits, tokens.holds, self._queued)
        self.completion = Completion()
        self.outputs = Outputs(setup.env)
        self.replies = Replies()
        self.prompts = Prompts(log, self.office, setup.env, self.opener.manager)
        self.readiness = Readiness(log.try_writing)
        self._listeners: tuple[Callable[[Envelope], None], ...] = (
            self.feeds.heard,
            self.overview.heard,
            self.office.heard,
            self.outputs.heard,
            self.replies.heard,
            self.prompts.heard,
        )
        self._stop_watching: Callable[[], None] | None = None
        self.answered: dict[int, int] = {}
        """How many responses had which status."""

    def _heard(self, envelope: Envelope) -> None:
        for listener in self._listeners:
            listener(envelope)

    def _queued(self, session: str) -> tuple[Queued, ...]:
        runner = self.engine.runner(session)
        return () if runner is None else runner.state.queued

    async def start(self) -> None:
        self._stop_watching = self.log.watch_all(self._others_changed)
        await self.overview.start()
        await self.engine.start()
        self.streams.start()

    def _others_changed(self) -> None:
        self.overview.touch_all()
        self.engine.spawn(self.feeds.others_changed())

    async def stop(self) -> None:
        """Clients are told goodbye; what runs is stopped, what waits goes on waiting in the log."""
        if self._stop_watching is not None:
            self._stop_watching()
        self.streams.stop()
        await self.prompts.close()
        await self.engine.drain()


def real_folder(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def wanted_folder(setup: Setup, given: str | None) -> str:
    """Where a new session is to work; a Problem where none may."""
    if given is not None and ("\0" in given or not os.path.isabs(os.path.expanduser(given))):
        raise Problem("invalid", "the folder must be given from the root on, e.g. /home/ann/shop")
    folder = real_folder(given) if given is not None else setup.folder
    if not setup.allows(folder):
        raise Problem("invalid", f"sessions here work below: {', '.join(setup.roots)}")
    if not os.path.isdir(folder):
        raise Problem("invalid", f"there is no folder {folder}")
    return folder
