"""The engine: keeps alive what has something to do, in one process, and lets the rest sleep in the log.

The log gives safety (one writer a session, nothing lost); the engine only gives liveness. A session that has a command
in its inbox, or an unfinished turn, gets a runner; one that only waits for a person, or for nothing, is parked after a
while and costs nothing until somebody speaks to it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Protocol
from weakref import WeakValueDictionary

from assent.events import Envelope
from assent.models.model_protocol import ModelError
from assent.policy.rules import BadRule
from assent.session.log import LogError, NoSuchSession, SessionBusy, SessionInfo, SessionLog
from assent.session.running_session import RunningSession
from assent.session.state import SessionState

if TYPE_CHECKING:  # imported when there is a server
    from assent.mcp.offers import PromptServers

LINGER = 20.0
"""Seconds for which a session that rests stays open: whoever spoke to it may speak again."""
MOST_RESTING = 128
"""More than these do not linger; those that rest longest are parked first."""
CALM = 1.0
"""Seconds without a session being woken. Before that, four times as many may rest: answers come first."""
SWEEP = 1.0
PARK_AT_ONCE = 4
PARK_PAUSE = 0.02
"""There is no hurry, and whoever waits for an answer comes first."""


Activity = Literal["absent", "opening", "running", "resting"]
"""`running` and `resting` sessions run in this process, and its listener hears all their events."""
Listener = Callable[[Envelope], None]
GiveWay = Callable[[], Awaitable[None]]


class SessionEngine(Protocol):
    """Runs the sessions of a server, in this process or elsewhere. The log has the truth; this is what more there is
    to know of a session that runs."""

    async def start(self) -> None:
        """Goes on with what an earlier process of ours left unfinished; those that only wait stay where they are."""
        ...

    async def ensure(self, session: str) -> None:
        """Sees to it that the session runs; raises SessionBusy when a process that is not ours has it, and one of
        CANNOT_OPEN when it cannot be opened."""
        ...

    def nudge(self, session: str) -> None:
        """There may be something to do. Comes back at once."""
        ...

    async def cancel(self, session: str) -> None:
        """Stops running the session. What waits for a person goes on waiting."""
        ...

    async def drain(self) -> None:
        """Stops all; nothing is started any more."""
        ...

    def activity(self, session: str) -> Activity: ...

    def state(self, session: str) -> SessionState | None:
        """The fold of a session that runs in this process; it goes on changing. Of others the log has the events."""
        ...

    def problem(self, session: str) -> str:
        """Why the session could not be opened when it was nudged; empty when it could."""
        ...

    def servers(self, session: str) -> "PromptServers | None":
        """The MCP servers of a session that runs in this process."""
        ...

    @property
    def open_sessions(self) -> int: ...

    @property
    def parked(self) -> int:
        """So many sessions that were open here are not any more."""
        ...

    @property
    def calm(self) -> bool:
        """Nobody waits for anything that runs here, nor did a moment ago."""
        ...


class Opened:
    """A runner, what closes it with all that belongs to it, and the MCP servers that it has."""

    def __init__(
        self, runner: RunningSession, close: Callable[[], Awaitable[None]], servers: "PromptServers | None" = None
    ) -> None:
        self.runner = runner
        self.close = close
        self.servers = servers
        self.rests_since: float | None = None


Opener = Callable[[SessionInfo], Awaitable[Opened]]
CANNOT_OPEN = (LogError, ModelError, BadRule, OSError)
"""What may keep a session from being opened; each says why in words."""


class LocalEngine:
    """An asyncio supervisor. `client` is who opens its sessions; those that bear this name are ours after a restart."""

    def __init__(
        self,
        log: SessionLog,
        opener: Opener,
        client: str,
        *,
        linger: float = LINGER,
        most_resting: int = MOST_RESTING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._opener = opener
        self._client = client
        self._linger = linger
        self._most_resting = most_resting
        self._clock = clock
        self._open: dict[str, Opened] = {}
        self._gates: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Opening and parking of one session never overlap; those of different sessions do."""
        self._opening: set[str] = set()
        self._nudges: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._stop_watching: Callable[[], None] | None = None
        self._draining = False
        self._woken_at = 0.0
        self.parked = 0
        self.problems: dict[str, str] = {}
        """Why sessions could not be opened when they were nudged."""

    # --- the port ---

    async def start(self) -> None:
        self._stop_watching = self._log.watch_all(self._others_changed)
        self._sweeper = asyncio.create_task(self._sweep(), name="engine")
        for info in await self._log.sessions():
            if info.client == self._client and info.unfinished and (info.held or not info.waiting):
                self.nudge(info.id)
        await self._look_for_commands()

    async def ensure(self, session: str) -> None:
        async with self._gate(session):
            await self._ensure(session)

    def nudge(self, session: str) -> None:
        if not self._draining:
            self._opening.add(session)  # from now on, not from when the task begins
            self._spawn(self._nudged(session))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._nudges.add(task)
        task.add_done_callback(self._nudges.discard)

    async def cancel(self, session: str) -> None:
        async with self._gate(session):
            await self._park(session)

    async def drain(self) -> None:
        self._draining = True
        if self._stop_watching is not None:
            self._stop_watching()
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await asyncio.gather(*self._nudges, return_exceptions=True)
        await asyncio.gather(*(self.cancel(session) for session in list(self._open)), return_exceptions=True)

    # --- what is open ---

    def activity(self, session: str) -> Activity:
        opened = self._open.get(session)
        if opened is None:
            return "opening" if session in self._opening else "absent"
        return "resting" if opened.runner.resting else "running"

    def state(self, session: str) -> SessionState | None:
        opened = self._open.get(session)
        return None if opened is None else opened.runner.state

    def problem(self, session: str) -> str:
        return self.problems.get(session, "")

    def servers(self, session: str) -> "PromptServers | None":
        opened = self._open.get(session)
        return None if opened is None else opened.servers

    def runner(self, session: str) -> RunningSession | None:
        opened = self._open.get(session)
        return None if opened is None else opened.runner

    @property
    def open_sessions(self) -> int:
        return len(self._open)

    @property
    def calm(self) -> bool:
        return not self._woken_lately() and all(opened.runner.resting for opened in self._open.values())

    # --- opening ---

    def _gate(self, session: str) -> asyncio.Lock:
        gate = self._gates.get(session)
        if gate is None:
            gate = self._gates[session] = asyncio.Lock()
        return gate

    async def _ensure(self, session: str) -> None:
        opened = self._open.get(session)
        if opened is not None and opened.runner.failure is not None:
            await self._park(session)
            opened = None
        if opened is not None:
            opened.rests_since = None
            return
        if self._draining:
            raise SessionBusy("the server is stopping")
        self._woken_at = self._clock()
        self._opening.add(session)
        try:
            self._open[session] = await self._opener(await self._log.info(session))
        finally:
            self._opening.discard(session)
        self.problems.pop(session, None)

    async def _nudged(self, session: str) -> None:
        try:
            await self.ensure(session)
        except (SessionBusy, NoSuchSession):
            pass  # whoever has it looks into the inbox too
        except CANNOT_OPEN as error:
            self.problems[session] = str(error)
        finally:
            self._opening.discard(session)

    # --- parking ---

    async def _park(self, session: str) -> None:
        opened = self._open.pop(session, None)
        if opened is not None:
            self.parked += 1
            with suppress(LogError):
                await opened.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            with suppress(LogError):  # whoever asks next is told
                for some in _by(PARK_AT_ONCE, self._parkable()):
                    await asyncio.gather(*map(self._park_resting, some))
                    await asyncio.sleep(PARK_PAUSE)
                for session in await self._log.expired(time.time()):
                    await self._wake_if_ours(session)

    def _parkable(self) -> list[str]:
        now = self._clock()
        resting: list[tuple[float, str]] = []
        for session, opened in self._open.items():
            if not opened.runner.resting and opened.runner.failure is None:
                opened.rests_since = None
                continue
            opened.rests_since = now if opened.rests_since is None else opened.rests_since
            resting.append((opened.rests_since, session))
        resting.sort()
        most = 4 * self._most_resting if self._woken_lately() else self._most_resting
        surplus = max(0, len(resting) - most)
        return [
            session for place, (since, session) in enumerate(resting) if place < surplus or now - since > self._linger
        ]

    def _woken_lately(self) -> bool:
        return self._clock() - self._woken_at < CALM

    async def _park_resting(self, session: str) -> None:
        async with self._gate(session):
            opened = self._open.get(session)
            if opened is None or not (opened.runner.resting or opened.runner.failure is not None):
                return
            await self._park(session)
        if await self._log.inbox(session):  # it came while we were closing
            self.nudge(session)

    # --- what others do ---

    def _others_changed(self) -> None:
        if not self._draining:
            self._spawn(self._look_for_commands())

    async def _look_for_commands(self) -> None:
        """Answers given from another terminal wake the sessions that are ours."""
        with suppress(LogError):
            for session in await self._log.pending():
                await self._wake_if_ours(session)

    async def _wake_if_ours(self, session: str) -> None:
        if session in self._open or session in self.problems:
            return
        if (await self._log.info(session)).client == self._client:
            self.nudge(session)


def _by(size: int, sessions: list[str]) -> list[list[str]]:
    return [sessions[at : at + size] for at in range(0, len(sessions), size)]
