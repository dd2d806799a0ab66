"""Sends commands to sessions for clients of the API, and tells what came of them.

A command is durable in the session's inbox before anybody is told that it was accepted. What the session does with it
is the session's business: it may run here, be woken here, or be open in another process.
"""

import asyncio
import hashlib
import secrets
from typing import NoReturn

import msgspec
from msgspec import Struct

from assent.approval import Outcome
from assent.commands import Answer, Command
from assent.events import CommandTaken, Envelope
from assent.front.web.precedence import Precedence
from assent.front.web.problems import Problem
from assent.front.web.shapes import SessionView, Status, Taken
from assent.front.web.states import States
from assent.front.web.tokens import Principal
from assent.scheduler.call import AwaitingApproval
from assent.session.engine import CANNOT_OPEN, LocalEngine
from assent.session.log import NoSuchSession, SessionBusy, SessionInfo, SessionLog, Stamp

PATIENCE = 10.0
"""Seconds that a client waits for a session to take its command."""
ONCE: tuple[Outcome, ...] = ("proceed_once", "cancel")
"""What an approver may answer; the rest gives standing leave or changes what runs."""


class Asker(Struct, frozen=True):
    """Who asks, from where, and with which idempotency key."""

    principal: Principal
    address: str
    key: str | None = None

    @property
    def by(self) -> str:
        """As the others see it, and as it stays in the record."""
        return f"{self.principal.name}@{self.address}"


class InboxKey(Struct, frozen=True):
    """Under which key a command is kept, and the stamp of its request if that may come again."""

    name: str
    stamp: Stamp | None = None


class Office:
    def __init__(self, log: SessionLog, engine: LocalEngine, states: States, precedence: Precedence) -> None:
        self._log, self._engine, self._states, self._precedence = log, engine, states, precedence
        self._awaited: dict[tuple[str, str], asyncio.Future[CommandTaken]] = {}
        self.decisions = 0

    def heard(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        if isinstance(envelope.event, CommandTaken):
            future = self._awaited.get((envelope.session, envelope.event.key))
            if future is not None and not future.done():
                future.set_result(envelope.event)

    # --- sessions ---

    async def find(self, asker: Asker, session: str) -> SessionInfo:
        """Somebody else's session is as good as none."""
        try:
            info = await self._log.info(session)
        except NoSuchSession:
            info = None
        if info is None or info.owner != asker.principal.owner:
            raise Problem("not-found", f"there is no session {session}")
        return info

    async def view(self, info: SessionInfo) -> SessionView:
        return SessionView(
            id=info.id,
            title=info.title,
            folder=info.folder,
            model=info.model,
            mode=info.mode,
            owner=info.owner,
            status=await self._status(info),
            waiting=info.waiting,
            seq=info.events,
            created_at=info.created_at,
            updated_at=info.updated_at,
            problem=self._engine.problems.get(info.id, ""),
        )

    async def _status(self, info: SessionInfo) -> Status:
        runner = self._engine.runner(info.id)
        if self._engine.opening(info.id):
            return await self._soon(info)
        if runner is None and info.held and await self._log.is_open(info.id):
            return "elsewhere"
        if runner is not None and not runner.resting:
            return "running"
        return "waiting" if info.waiting else "idle"

    async def _soon(self, info: SessionInfo) -> Status:
        """What a session that is being opened here will be."""
        if info.waiting:
            return "waiting"
        return "running" if info.unfinished or await self._log.inbox(info.id) else "idle"

    async def open_here(self, session: str) -> None:
        """It runs here when this returns; a Problem when it cannot."""
        try:
            await self._engine.ensure(session)
        except SessionBusy as error:
            raise Problem("busy", str(error)) from error
        except CANNOT_OPEN as error:
            raise Problem("unavailable", str(error)) from error

    # --- commands ---

    def inbox_key(self, asker: Asker, about: str, body: object) -> InboxKey:
        """The same for the same request, whenever it comes again. `body` is what was sent, without who sent it: the
        same person may ask again from elsewhere."""
        if asker.key is None:
            return InboxKey(f"web-{secrets.token_urlsafe(12)}")
        whose = (asker.principal.owner, asker.principal.name, asker.key)  # two owners may have somebody of one name
        name = "web-" + hashlib.sha256("\n".join(whose).encode()).hexdigest()[:24]
        digest = hashlib.sha256(about.encode() + b"\n" + msgspec.json.encode(body)).digest()
        return InboxKey(name, Stamp(name, digest))

    async def done_before(self, key: InboxKey) -> str | None:
        """The session in which the same request has done its work already."""
        return None if key.stamp is None else await self._log.stamped(key.stamp)

    async def record(self, session: str, key: InboxKey, command: Command) -> bool:
        """Durable when this returns; whoever runs the session takes it when it can. False: it was there before."""
        fresh = await self._log.put(session, key.name, command, key.stamp)
        self._engine.nudge(session)
        return fresh

    async def send(self, session: str, key: InboxKey, command: Command) -> Taken:
        """Durable, and taken by the session; a Problem when it refuses."""
        taken = await self._send(session, key, command)
        if taken is not None and taken.problem:
            raise Problem("refused", taken.problem)
        return Taken("recorded" if taken is None else "taken", key.name)

    async def _send(self, session: str, key: InboxKey, command: Command) -> CommandTaken | None:
        future = self._awaited.setdefault((session, key.name), asyncio.get_running_loop().create_future())
        stop = None
        try:
            fresh, here = await self._put_and_wake(session, key, command)
            if not fresh and (before := await self._taken_before(session, key.name)) is not None:
                return before
            if not here:
                stop = self._log.watch(session, lambda: self._look(session, key.name))
                self._look(session, key.name)
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(future)  # the same request may have come twice, and both wait for it
        except TimeoutError:
            return None
        finally:
            self._awaited.pop((session, key.name), None)
            if stop is not None:
                stop()

    async def _put_and_wake(self, session: str, key: InboxKey, command: Command) -> tuple[bool, bool]:
        """Is it new, and does the session run here? Who sleeps is woken while it is written down, and then looks."""
        put, woken = self._log.put(session, key.name, command, key.stamp), self._runs_here(session)
        fresh, here = await asyncio.gather(put, woken, return_exceptions=True)  # whatever is said, it was written first
        if isinstance(fresh, BaseException):
            raise fresh
        if isinstance(here, BaseException):
            raise here
        return fresh, here

    async def _runs_here(self, session: str) -> bool:
        try:
            await self._engine.ensure(session)
        except SessionBusy:
            return False
        except CANNOT_OPEN as error:
            raise Problem("unavailable", f"recorded, but the session cannot be opened: {error}") from error
        return True

    def _look(self, session: str, key: str) -> None:
        """Another process has the session open: its events tell whether it took the command."""
        task = asyncio.ensure_future(self._taken_before(session, key))
        task.add_done_callback(lambda done: self._found(session, key, done))

    def _found(self, session: str, key: str, done: "asyncio.Future[CommandTaken | None]") -> None:
        future = self._awaited.get((session, key))
        if done.cancelled() or done.exception() is not None or (taken := done.result()) is None:
            return
        if future is not None and not future.done():
            future.set_result(taken)

    async def _taken_before(self, session: str, key: str) -> CommandTaken | None:
        events = (envelope.event for envelope in await self._log.read(session))
        return next((event for event in events if isinstance(event, CommandTaken) and event.key == key), None)

    # --- decisions ---

    async def decide(self, asker: Asker, session: str, answer: Answer) -> Taken:
        """Bound to this session, this call and what was shown; the first answer wins."""
        self._check_role(asker.principal, answer)
        key = self.inbox_key(asker, f"decide {session}/{answer.call_id}", msgspec.structs.replace(answer, by=""))
        again = await self.done_before(key) is not None
        if not again:
            await self._check_waiting(session, answer)
        with self._precedence.answering():
            taken = await self._send(session, key, answer)
        if taken is None:
            return Taken("recorded", key.name)
        if taken.problem:
            await self._explain(session, answer, taken.problem)
        self.decisions += not again
        return Taken("taken", key.name)

    def check_command(self, principal: Principal, command: Command) -> None:
        if isinstance(command, Answer):
            self._check_role(principal, command)
        elif not principal.may("operator"):
            raise Problem("forbidden", f"this takes the role operator; yours is {principal.role}")

    def _check_role(self, principal: Principal, answer: Answer) -> None:
        edits = answer.content is not None or answer.args is not None
        if (answer.outcome not in ONCE or edits) and not principal.may("operator"):
            raise Problem("forbidden", "your role may say yes once or no; more takes an operator")

    async def _check_waiting(self, session: str, answer: Answer) -> None:
        """From the index alone where it waits, so that sessions which sleep are not read for nothing."""
        waiting = await self._log.waiting_call(session, answer.call_id)
        if waiting is None:
            await self._not_waiting(session, answer.call_id)
        elif answer.outcome != "cancel" and answer.digest != waiting.approval.digest:
            raise digest_differs(waiting.approval.digest)

    async def _not_waiting(self, session: str, call_id: str) -> NoReturn:
        state = await self._states.get(session)
        by = state.answered_by.get(call_id)
        if call_id not in state.calls:
            raise Problem("not-found", f"there is no call {call_id} in this session")
        if by is not None:
            raise Problem("already-decided", f"already answered by {by or 'somebody'}", by=by)
        raise Problem("gone", f"call {call_id} does not wait for an answer any more")

    async def _explain(self, session: str, answer: Answer, problem: str) -> NoReturn:
        """Why the session did not take it, as the state says now."""
        state = await self._states.get(session)
        call = state.calls.get(answer.call_id)
        if not isinstance(call, AwaitingApproval) or call.answered_by:
            await self._not_waiting(session, answer.call_id)
        if answer.outcome != "cancel" and answer.digest != call.approval.digest:
            raise digest_differs(call.approval.digest)
        raise Problem("refused", problem)


def digest_differs(digest: str) -> Problem:
    return Problem("digest-differs", "that is not what is asked now; look at it again before you answer", digest=digest)
