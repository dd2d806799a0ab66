"""Which commands wait for someone to type something. The log does not know: what is typed is not recorded."""

from msgspec import Struct

from assent.app.session_log import SessionInfo, SessionLog
from assent.events import CallFinished, CallInput, Envelope


class WaitingInput(Struct, frozen=True):
    session: SessionInfo
    call_id: str
    since: float


class WaitingInputs:
    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._since: dict[tuple[str, str], float] = {}
        """By session and call."""

    def on_event(self, envelope: Envelope) -> None:
        """Every event of every session that runs here."""
        match envelope.event:
            case CallInput(call_id=call_id, wanted=wanted) if wanted is not None:
                self._since.setdefault((envelope.session, call_id), envelope.ts)
            case CallInput(call_id=call_id) | CallFinished(call_id=call_id):
                self._since.pop((envelope.session, call_id), None)
            case _:
                pass

    async def all(self) -> list[WaitingInput]:
        """Oldest first."""
        if not self._since:
            return []
        since = dict(self._since)
        sessions = await self._log.infos({session for session, _ in since})
        return [
            WaitingInput(sessions[session], call_id, at)
            for (session, call_id), at in since.items()
            if session in sessions
        ]
