"""The engine: runs the sessions that have something to do, in one process, and leaves the rest parked in the log.

The log provides safety (one writer per session, nothing lost); the engine only provides liveness. A session with a
command in its inbox or an unfinished turn gets a runner; one that only waits for a person, or for nothing, is parked
after a while and costs nothing until it is needed again.
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

if TYPE_CHECKING:  # imported only if there is a server
    from assent.mcp.offers import PromptServers

LINGER_SECONDS = 20.0
"""Seconds for which a resting session stays open: it is likely to be used again."""
MAX_RESTING = 128
"""How many resting sessions stay open; those that have rested longest are parked first."""
CALM_SECONDS = 1.0
"""Seconds since a session was last woken. Until then, four times as many may stay open: answers come first."""
SWEEP_INTERVAL = 1.0
PARK_BATCH_SIZE = 4
PARK_PAUSE = 0.02
"""Parking is not urgent, and anyone waiting for an answer comes first."""
SURPLUS_BATCH_SIZE = 16
"""How many of those above the bound are parked at once."""


Activity = Literal["absent", "opening", "running", "resting"]
"""`running` and `resting` sessions run in this process, and its listener receives all their events."""
Listener = Callable[[Envelope], None]
GiveWay = Callable[[], Awaitable[None]]


class SessionEngine(Protocol):
    """Runs the sessions of a server, in this process or elsewhere. The log is authoritative; this knows what is
    specific to running sessions."""

    async def start(self) -> None:
        """Continues what an earlier process of ours left unfinished; sessions that only wait stay parked."""
        ...

    async def ensure(self, session: str) -> None:
        """Makes sure the session runs; raises SessionBusy if a process that is not ours has it, and one of
        CANNOT_OPEN if it cannot be opened."""
        ...

    def nudge(self, session: str) -> None:
        """Tells the engine that the session may have something to do. Returns at once."""
        ...

    async def cancel(self, session: str) -> None:
        """Stops running the session. What waits for a person keeps waiting."""
        ...

    async def drain(self) -> None:
        """Stops all sessions; no more are started."""
        ...

    def activity(self, session: str) -> Activity: ...

    def state(self, session: str) -> SessionState | None:
        """The fold of a session that runs in this process; it keeps changing. For others, read the log."""
        ...

    def problem(self, session: str) -> str:
        """Why the session could not be opened when it was nudged; empty if it could."""
        ...

    def servers(self, session: str) -> "PromptServers | None":
        """The MCP servers of a session that runs in this process."""
        ...

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> str:
        """Types a line for a prompt of a running command; None is the end of its input. It is recorded nowhere. Returns
        why it cannot be done; empty if it was.
        """
        ...

    @property
    def shared(self) -> str:
        """The client that opens its sessions, if these run in other processes; empty if they run in this one."""
        ...

    @property
    def open_sessions(self) -> int: ...

    @property
    def parked(self) -> int:
        """How many sessions have been parked."""
        ...

    @property
    def calm(self) -> bool:
        """Nothing here has been waited for, now or a moment ago."""
        ...


class OpenSession(Protocol):
    """A session that runs here, with everything it uses."""

    @property
    def runner(self) -> RunningSession: ...

    @property
    def servers(self) -> "PromptServers | None": ...

    async def close(self) -> None: ...


Opener = Callable[[SessionInfo], Awaitable[OpenSession]]
CANNOT_OPEN = (LogError, ModelError, BadRule, OSError)
"""What can keep a session from being opened; each says why."""


class LocalEngine:
    """An asyncio supervisor. `client` is who opens its sessions; after a restart, those of this name are ours."""

    shared = ""

    def __init__(
        self,
        log: SessionLog,
        opener: Opener,
        client: str,
        *,
        linger: float = LINGER_SECONDS,
        max_resting: int = MAX_RESTING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._opener = opener
        self._client = client
        self._linger = linger
        self._max_resting = max_resting
        self._clock = clock
        self._open: dict[str, OpenSession] = {}
        self._rests_since: dict[str, float] = {}
        self._gates: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Opening and parking the same session never overlap; for different sessions they may."""
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
            self._opening.add(session)  # now, not only when the task starts
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

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> str:
        opened = self._open.get(session)
        if opened is None:
            return "the session does not run in this server; type your input where it runs"
        return opened.runner.type_in(call_id, number, text)

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
            self._rests_since.pop(session, None)
            return
        if self._draining:
            raise SessionBusy("the server is shutting down; try again when it is back")
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
            pass  # whoever has it reads the inbox too
        except CANNOT_OPEN as error:
            self.problems[session] = str(error)
        finally:
            self._opening.discard(session)

    # --- parking ---

    async def _park(self, session: str) -> None:
        opened = self._open.pop(session, None)
        self._rests_since.pop(session, None)
        if opened is not None:
            self.parked += 1
            with suppress(LogError):
                await opened.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_INTERVAL)
            with suppress(LogError):  # reported to the next caller
                await self._park_surplus()
                await self._park_lingering()
                for session in await self._log.expired(time.time()):
                    await self._wake_if_ours(session)

    async def _park_surplus(self) -> None:
        """Without a pause: sessions that start faster than they are parked would fill the memory."""
        while (surplus := len(resting := self._resting()) - self._most_resting()) > 0:
            await asyncio.gather(*map(self._park_resting, resting[: min(surplus, SURPLUS_BATCH_SIZE)]))

    async def _park_lingering(self) -> None:
        before = self._clock() - self._linger
        for some in _by(PARK_BATCH_SIZE, [name for name in self._resting() if self._rests_since[name] < before]):
            await asyncio.gather(*map(self._park_resting, some))
            await asyncio.sleep(PARK_PAUSE)
            await self._park_surplus()

    def _resting(self) -> list[str]:
        """Those that have rested longest come first."""
        now = self._clock()
        resting = [name for name, opened in self._open.items() if _can_be_parked(opened)]
        self._rests_since = {name: self._rests_since.get(name, now) for name in resting}
        return sorted(resting, key=self._rests_since.__getitem__)

    def _most_resting(self) -> int:
        return 4 * self._max_resting if self._woken_lately() else self._max_resting

    def _woken_lately(self) -> bool:
        return self._clock() - self._woken_at < CALM_SECONDS

    async def _park_resting(self, session: str) -> None:
        async with self._gate(session):
            opened = self._open.get(session)
            if opened is None or not _can_be_parked(opened):
                return
            await self._park(session)
        if await self._log.inbox(session):  # it arrived while we were closing
            self.nudge(session)

    # --- changes by other processes ---

    def _others_changed(self) -> None:
        if not self._draining:
            self._spawn(self._look_for_commands())

    async def _look_for_commands(self) -> None:
        """Wakes our sessions that got commands from another process."""
        with suppress(LogError):
            for session in await self._log.pending():
                await self._wake_if_ours(session)

    async def _wake_if_ours(self, session: str) -> None:
        if session in self._open or session in self.problems:
            return
        if (await self._log.info(session)).client == self._client:
            self.nudge(session)


def _can_be_parked(opened: OpenSession) -> bool:
    return opened.runner.resting or opened.runner.failure is not None


def _by(size: int, sessions: list[str]) -> list[list[str]]:
    return [sessions[at : at + size] for at in range(0, len(sessions), size)]
