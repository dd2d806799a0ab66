"""Sends commands to sessions for clients of the API, and reports their outcome.

A command is durable in the session's inbox before it is reported as accepted. What the session does with it is the
session's business: it may run here, be woken here, or be open in another process.
"""

import hashlib
import secrets

import msgspec
from msgspec import Struct

from assent.app.command_sender import CommandSender, Outcomes, WakeResult
from assent.app.engine_setup import CANNOT_OPEN, SessionEngine
from assent.app.session_log import NoSuchSession, SessionBusy, SessionInfo, SessionLog, Stamp
from assent.commands import Command
from assent.front.web.access_tokens import Principal
from assent.front.web.api_types import SessionView, Status, Taken
from assent.front.web.problems import Problem


class Caller(Struct, frozen=True):
    """Who asks, from where, and with which idempotency key."""

    principal: Principal
    address: str
    key: str | None = None
    request_id: str = ""

    @property
    def by(self) -> str:
        """As others see it, and as it is recorded."""
        return f"{self.principal.name}@{self.address}"


class InboxKey(Struct, frozen=True):
    """The key of a command in the inbox, and the stamp of its request if that may be repeated."""

    name: str
    stamp: Stamp | None = None


class CommandGateway:
    def __init__(self, log: SessionLog, engine: SessionEngine) -> None:
        self._log, self._engine = log, engine
        outcomes = Outcomes()
        self.sender = CommandSender(log, outcomes, self.wake)
        self.on_event = outcomes.tell
        """Must be called with every event of every session that runs here."""

    # --- sessions ---

    async def find(self, caller: Caller, session: str) -> SessionInfo:
        """Someone else's session is reported as not found."""
        try:
            info = await self._log.info(session)
        except NoSuchSession:
            info = None
        if info is None or info.owner != caller.principal.owner:
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
            problem=self._engine.problem(info.id),
            archived=info.archived,
        )

    async def _status(self, info: SessionInfo) -> Status:
        match self._engine.activity(info.id):
            case "opening":
                return await self._soon(info)
            case "running" if not self._only_holds(info.id):
                return "running"
            case "absent" if info.held and info.client == self._engine.shared:
                return await self._soon(info)  # a worker of ours has it
            case "absent" if info.held and await self._log.is_open(info.id):
                return "elsewhere"
            case _:
                return "waiting" if info.waiting else "idle"

    def _only_holds(self, session: str) -> bool:
        """Nothing is running: what is in its queue waits until someone releases it."""
        state = self._engine.state(session)
        return state is not None and state.open_prompt is None and bool(state.held)

    async def _soon(self, info: SessionInfo) -> Status:
        """The status of a session that a worker runs, or that one being opened here will have."""
        if info.waiting:
            return "waiting"
        return "running" if info.unfinished or await self._log.inbox(info.id) else "idle"

    async def open_here(self, session: str) -> None:
        """Makes the session run here; raises Problem if it cannot."""
        try:
            await self._engine.ensure(session)
        except SessionBusy as error:
            raise Problem("busy", str(error)) from error
        except CANNOT_OPEN as error:
            raise Problem("unavailable", str(error)) from error

    # --- commands ---

    def inbox_key(self, caller: Caller, about: str, body: object) -> InboxKey:
        """The same key whenever the same request is repeated. `body` is what was sent, without the sender: the same
        person may repeat it from elsewhere."""
        if caller.key is None:
            return InboxKey(f"web-{secrets.token_urlsafe(12)}")
        whose = (
            caller.principal.owner,
            caller.principal.name,
            caller.key,
        )  # two owners may have users of the same name
        name = "web-" + hashlib.sha256("\n".join(whose).encode()).hexdigest()[:24]
        digest = hashlib.sha256(about.encode() + b"\n" + msgspec.json.encode(body)).digest()
        return InboxKey(name, Stamp(name, digest))

    async def done_before(self, key: InboxKey) -> str | None:
        """The session in which the same request has already taken effect."""
        return None if key.stamp is None else await self._log.stamped(key.stamp)

    async def record(self, session: str, key: InboxKey, command: Command) -> bool:
        """Durable when this returns; the session takes it when it can. False if it was recorded before."""
        fresh = await self._log.put(session, key.name, command, key.stamp)
        self._engine.nudge(session)
        return fresh

    async def send(self, session: str, key: InboxKey, command: Command) -> Taken:
        """Durable, and taken by the session; raises Problem if it refuses."""
        sent = await self.sender.send(session, command, key.name, key.stamp)
        if sent.state == "refused":
            raise Problem("refused", sent.problem)
        return Taken("taken" if sent.state == "taken" else "recorded", key.name)

    async def wake(self, session: str) -> WakeResult:
        """Makes the session run, and says where."""
        try:
            await self._engine.ensure(session)
        except SessionBusy:
            return "elsewhere"
        except CANNOT_OPEN as error:
            raise Problem("unavailable", f"recorded, but the session cannot be opened: {error}") from error
        return "elsewhere" if self._engine.activity(session) == "absent" else "here"

    async def type_in(self, session: str, call_id: str, number: int, text: str | None) -> None:
        """Not a command, which would be recorded. Raises Problem if nothing waits for it."""
        if problem := await self._engine.type_in(session, call_id, number, text):
            raise Problem("refused", problem)
