"""Sends a command to a session and waits for its outcome, wherever the session runs.

A command is durable in the session's inbox before anyone waits. The session's events tell whether it was taken:
`Outcomes` receives those of sessions that run in this process; for others they are read from the log.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct

from assent.commands import Command, RunTool, person_call_id
from assent.events import ApprovalAnswered, CallFinished, CommandTaken, Envelope
from assent.session.server_clients import SERVER_CLIENTS

if TYPE_CHECKING:  # the terminal UI has a client, and needs no log
    from assent.app.session_client import SessionClient
    from assent.session.log import SessionLog, Stamp

T = TypeVar("T")

COMMAND_TIMEOUT = 10.0
"""Seconds to wait for a running session."""
SERVER_TIMEOUT = 10.0
"""Seconds to wait until a server opens its session for a command; perhaps it is not running. Workers find some commands
only when they sweep, every few seconds.
"""
POLL_INTERVAL = 0.3
"""Seconds between checks that the other process is still running: one that dies says nothing."""

WakeResult = Literal["here", "elsewhere", "server", "away", "nobody"]
"""Where a session runs: in this process, whose events `Outcomes` receives; in another one; in a server, which opens it
again whenever there is something to do, if it is running; in a server that is not running; or nowhere.
"""


class Closed(Exception):
    """The session was closed before there was an outcome."""


class Sent(Struct, frozen=True):
    """`recorded`: nobody runs the session; `served`: a server will open it; `ended`: its process is gone; `busy`: its
    process has not taken it yet.
    """

    state: Literal["taken", "refused", "recorded", "served", "ended", "busy"]
    problem: str = ""

    def waits(self, session: str) -> str:
        """What happens to a command that is still in the inbox, in words."""
        if self.state == "busy":
            return "Recorded. The session is busy and will take it as soon as it can."
        if self.state == "served":
            when = "when the session's server runs, or when you resume the session"
            return f"Recorded. It takes effect {when}: assent --resume {session}"
        meanwhile = "The session ended before it took this. " if self.state == "ended" else ""
        return f"Recorded. {meanwhile}It takes effect when the session is resumed: assent --resume {session}"


class Outcome:
    """What is known so far about one command."""

    def __init__(self) -> None:
        self.problem: str | None = None
        """Empty if it was taken without a problem; None until then."""
        self.finished: CallFinished | None = None
        """The end of the call that a RunTool became."""
        self.answered = False
        """Its effect is recorded, but not yet that it was taken."""
        self.closed = False
        self.happened = asyncio.Event()
        self.wanted_by = 0

    def taken(self) -> Sent | None:
        if self.problem is None:
            return None
        return Sent("refused", self.problem) if self.problem else Sent("taken")

    def ended(self) -> CallFinished | Sent | None:
        return Sent("refused", self.problem) if self.problem else self.finished

    async def until(self, found: "Callable[[Outcome], T | None]") -> T:
        while (outcome := found(self)) is None:
            if self.closed:
                raise Closed("The session was closed before the command finished.")
            self.happened.clear()
            await self.happened.wait()
        return outcome


class Outcomes:
    """Receives the events of sessions and lets others wait for their commands' outcomes. Keeps only what is wanted."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, str], Outcome] = {}
        self._calls: dict[tuple[str, str], Outcome] = {}
        self._remembering: list[list[Envelope]] = []
        self._closed = False

    def tell(self, envelope: Envelope) -> None:
        for meanwhile in self._remembering:
            meanwhile.append(envelope)
        match envelope.event:
            case CommandTaken(key=key, problem=problem) if outcome := self._wanted.get((envelope.session, key)):
                outcome.problem = problem
            case ApprovalAnswered(key=key) if outcome := self._wanted.get((envelope.session, key)):
                outcome.answered = True
            case CallFinished(call_id=call_id) as end if outcome := self._calls.get((envelope.session, call_id)):
                outcome.finished = end
            case _:
                return
        outcome.happened.set()

    def close(self) -> None:
        self._closed = True
        for outcome in self._wanted.values():
            outcome.closed = True
            outcome.happened.set()

    @contextmanager
    def remembering(self) -> Generator[list[Envelope]]:
        """Everything received in the meantime."""
        meanwhile: list[Envelope] = []
        self._remembering.append(meanwhile)
        try:
            yield meanwhile
        finally:
            self._remembering = [each for each in self._remembering if each is not meanwhile]

    @contextmanager
    def wanted(self, session: str, key: str) -> Generator[Outcome]:
        """From before the command is sent until its outcome is known; several may wait for the same one."""
        outcome = self._wanted.setdefault((session, key), Outcome())
        self._calls[session, person_call_id(key)] = outcome
        outcome.closed = self._closed
        outcome.wanted_by += 1
        try:
            yield outcome
        finally:
            outcome.wanted_by -= 1
            if not outcome.wanted_by:
                self._wanted.pop((session, key), None)
                self._calls.pop((session, person_call_id(key)), None)


def new_key() -> str:
    return os.urandom(12).hex()


# --- through the log ---


class CommandSender:
    def __init__(
        self,
        log: "SessionLog",
        outcomes: Outcomes | None = None,
        wake: Callable[[str], Awaitable[WakeResult]] | None = None,
        *,
        served: Callable[[], bool] = lambda: True,
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """`outcomes` receives the events of this process. `wake` starts the session while the command is recorded, and
        says where it runs; without it, no session is started. `served` tells whether a server may be running that
        opens its sessions; `waiting` is called if that takes longer than usual."""
        self._log, self._wake, self._served, self._waiting = log, wake, served, waiting
        self._outcomes = outcomes or Outcomes()

    async def send(
        self, session: str, command: Command, key: str = "", stamp: "Stamp | None" = None, *, after: int = 0
    ) -> Sent:
        """Waits until it is taken. `after` is the last event the sender has seen."""
        return await self._deliver(session, command, key, stamp, after, COMMAND_TIMEOUT, Outcome.taken)

    async def run(
        self,
        session: str,
        tool: RunTool,
        key: str = "",
        stamp: "Stamp | None" = None,
        *,
        after: int = 0,
        max_wait: float | None = COMMAND_TIMEOUT,
    ) -> CallFinished | Sent:
        """Waits until the resulting call has ended."""
        return await self._deliver(session, tool, key, stamp, after, max_wait, Outcome.ended)

    async def _deliver(
        self,
        session: str,
        command: Command,
        key: str,
        stamp: "Stamp | None",
        after: int,
        max_wait: float | None,
        found: Callable[[Outcome], T | None],
    ) -> T | Sent:
        key = key or new_key()
        with self._outcomes.wanted(session, key) as outcome:
            fresh, where = await self._put(session, command, key, stamp)
            if where in ("nobody", "away"):
                return Sent("recorded" if where == "nobody" else "served")
            if not fresh:  # it was sent before, and may have its outcome already
                after = await self._read_on(session, 0)
            try:
                if where == "here":
                    async with asyncio.timeout(max_wait):
                        return await outcome.until(found)
                return await self._follow(session, after, outcome, found, max_wait, opening=where == "server")
            except TimeoutError:
                return await self._not_in_time(session, outcome, where)

    async def _put(self, session: str, command: Command, key: str, stamp: "Stamp | None") -> tuple[bool, WakeResult]:
        """Whether the command is new, and where the session runs."""
        if self._wake is None:
            running = await self._log.is_open(session)  # before `put`: a process that dies in between counts
            fresh = await self._log.put(session, key, command, stamp)
            served = (await self._log.info(session)).client in SERVER_CLIENTS
            running = running or await self._log.is_open(session)
            if served and (running or self._served()):
                return fresh, "server"  # even if it is open: the server may park it before it takes the command
            return fresh, "away" if served else "elsewhere" if running else "nobody"
        put, woken = self._log.put(session, key, command, stamp), self._wake(session)
        fresh, where = await asyncio.gather(put, woken, return_exceptions=True)
        if isinstance(fresh, BaseException):
            raise fresh
        if isinstance(where, BaseException):  # whatever went wrong here, the command is recorded
            raise where
        return fresh, where

    async def _not_in_time(self, session: str, outcome: Outcome, where: WakeResult) -> Sent:
        if outcome.answered:
            return Sent("taken")
        return Sent("served" if where == "server" and not await self._log.is_open(session) else "busy")

    async def _follow(
        self,
        session: str,
        after: int,
        outcome: Outcome,
        found: Callable[[Outcome], T | None],
        max_wait: float | None,
        *,
        opening: bool,
    ) -> T | Sent:
        """Another process has the session open, or opens it: its events tell the outcome. Raises TimeoutError."""
        stop = self._log.watch(session, outcome.happened.set)
        try:
            async with asyncio.timeout(None) as timeout:
                deadline, told = _Deadline(timeout, max_wait), False
                while (end := found(outcome)) is None:  # it may have been told by the process itself
                    outcome.happened.clear()
                    running = await self._log.is_open(session)  # before reading: what it wrote last must not be missed
                    after = await self._read_on(session, after)
                    if not running and (outcome.answered or not opening) and found(outcome) is None:
                        return Sent("taken" if outcome.answered else "ended")
                    deadline.set(running=running)
                    if not await _soon(outcome.happened) and not running and not told:
                        told = True
                        self._waiting()
                return end
        finally:
            stop()

    async def _read_on(self, session: str, after: int) -> int:
        for envelope in await self._log.read(session, after):
            self._outcomes.tell(envelope)
            after = envelope.seq
        return after


class _Deadline:
    """Limits how long a session may be open without an outcome, and how long a server may take to open it."""

    def __init__(self, timeout: asyncio.Timeout, max_wait: float | None) -> None:
        self._timeout, self._max_wait = timeout, max_wait
        self._running: bool | None = None
        self._opened_by: float | None = None

    def set(self, *, running: bool) -> None:
        """The time to open it counts from when it was first seen closed: nobody must wait without end for a session
        that ends again and again.
        """
        if running == self._running:
            return
        self._running = running
        now = asyncio.get_running_loop().time()
        if not running:
            self._opened_by = self._opened_by or now + SERVER_TIMEOUT
            self._timeout.reschedule(self._opened_by)
        else:
            self._timeout.reschedule(None if self._max_wait is None else now + self._max_wait)


async def _soon(happened: asyncio.Event) -> bool:
    """Whether something happened within a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(POLL_INTERVAL):
            return await happened.wait()
    return False


# --- through a client, whose events `outcomes` receives ---


async def send(client: "SessionClient", outcomes: Outcomes, command: Command) -> str:
    """Waits until it is taken; returns the problem, empty if there was none. Raises Closed."""
    return (await _through(client, outcomes, command, Outcome.taken)).problem


async def run(client: "SessionClient", outcomes: Outcomes, tool: RunTool) -> CallFinished | str:
    """Waits until the resulting call has ended; returns the problem if it was not run. Raises Closed."""
    end = await _through(client, outcomes, tool, Outcome.ended)
    return end.problem if isinstance(end, Sent) else end


async def _through(
    client: "SessionClient", outcomes: Outcomes, command: Command, found: Callable[[Outcome], T | None]
) -> T:
    """A server returns the key with its response, and the outcome may arrive before that."""
    session = client.state.session
    with outcomes.remembering() as meanwhile:
        key = await client.send(command)
    with outcomes.wanted(session, key) as outcome:
        for envelope in meanwhile:
            outcomes.tell(envelope)
        return await outcome.until(found)


async def run_alone(client: "SessionClient", tool: RunTool, key: str) -> CallFinished | Sent:
    """The same for a client that was opened for this call alone, and whose events are read here."""
    outcomes = Outcomes()
    with outcomes.wanted(client.state.session, key) as outcome:
        await client.history()
        await client.send(tool, key)
        async for envelope in client.events():
            outcomes.tell(envelope)
            if (end := outcome.ended()) is not None:
                return end
    raise Closed("The session was closed before the command finished.")
