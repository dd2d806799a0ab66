"""What of a session goes into the audit: its creation, decisions, grants and modes, each with what it was about.

An answer names its call; what was shown, and its digest, came with the question. So this remembers what is waiting in
the sessions that this process writes. It knows nothing about where the records are stored.
"""

import time
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from assent.approval import Approval, AskDetails, Details, EditDetails, ExecDetails, InfoDetails, McpDetails
from assent.audit import ABOUT_LENGTH, AuditEntry
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequested,
    CallScheduled,
    CallStarted,
    Envelope,
    GrantAdded,
    GrantRevoked,
    ModeChanged,
    SessionCreated,
)
from assent.session.log import SessionInfo

MASKED_LENGTH = 20_000
"""More of a text is searched for secrets than is kept, but not all of a long one: others are waiting."""
_Call = tuple[str, str]
"""Session and call id."""


class _Asked(Struct, frozen=True):
    tool: str
    about: str
    digest: str


class AuditTrail:
    """Used by one writer, in the order of the events."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._tools: dict[_Call, str] = {}
        self._asked: dict[_Call, _Asked] = {}
        self._scheduled: dict[_Call, CallScheduled] = {}
        """Those that may run and have not started."""

    def opened(
        self, session: str, owner: str, waiting: Iterable[tuple[str, Approval]], calls: Iterable[Envelope] = ()
    ) -> None:
        """This process is about to write the session. Another one may have asked its questions, and decided on `calls`
        that it did not start: `calls` are the events since the last turn.
        """
        self._owners[session] = owner
        for envelope in calls:
            self.entry(envelope)
        for call_id, approval in waiting:
            self._asked[session, call_id] = _shown(approval)

    def closed(self, session: str) -> None:
        self._owners.pop(session, None)
        for calls in (self._tools, self._asked, self._scheduled):
            for call in [call for call in calls if call[0] == session]:
                del calls[call]

    def entry(self, envelope: Envelope) -> AuditEntry | None:
        """What to record of this event, if anything."""
        session, event = envelope.session, envelope.event
        match event:
            case CallRequested(request=request):
                self._tools[session, request.call_id] = request.tool
            case ApprovalRequested(call_id=call_id, approval=approval):
                self._asked[session, call_id] = _shown(approval)
            case CallFinished(call_id=call_id):
                self._forget((session, call_id))
            case ApprovalAnswered(call_id=call_id):
                return self._answered(envelope, event, self._asked.pop((session, call_id), None))
            case CallScheduled(call_id=call_id):
                self._scheduled[session, call_id] = event
            case CallStarted(call_id=call_id):
                return self._started(envelope, event, self._scheduled.pop((session, call_id), None))
            case SessionCreated() | GrantAdded() | GrantRevoked() | ModeChanged():
                return self._of_session(envelope, event)
            case _:
                pass
        return None

    def _forget(self, call: _Call) -> None:
        self._tools.pop(call, None)
        self._asked.pop(call, None)
        self._scheduled.pop(call, None)

    def _answered(self, envelope: Envelope, event: ApprovalAnswered, asked: _Asked | None) -> AuditEntry:
        call = (envelope.session, event.call_id)
        shown = asked or _Asked(self._tools.get(call, ""), "", "")
        return AuditEntry(
            kind="approval.answered",
            ts=envelope.ts,
            by=event.by,
            session=envelope.session,
            owner=self._owners.get(envelope.session, ""),
            call_id=event.call_id,
            tool=shown.tool or self._tools.get(call, ""),
            outcome=event.outcome + (" with changes" if event.args is not None else ""),
            digest=shown.digest,
            about=shown.about,
            reason=event.reason,
        )

    def _started(self, envelope: Envelope, event: CallStarted, scheduled: CallScheduled | None) -> AuditEntry | None:
        """What runs without a question. An answer has a record of its own, and what only reads needs none."""
        if scheduled is None or scheduled.decision.source == "tool" or scheduled.decision.outcome is not None:
            return None
        decision = scheduled.decision
        return AuditEntry(
            kind="call.allowed",
            ts=envelope.ts,
            by=decision.by,
            session=envelope.session,
            owner=self._owners.get(envelope.session, ""),
            call_id=event.call_id,
            tool=self._tools.get((envelope.session, event.call_id), ""),
            outcome=decision.source,
            digest=event.digest,
            about=scheduled.about,
            reason=decision.reason,
            reference=decision.rule,
        )

    def _of_session(
        self, envelope: Envelope, event: SessionCreated | GrantAdded | GrantRevoked | ModeChanged
    ) -> AuditEntry:
        ts, session, owner = envelope.ts, envelope.session, self._owners.get(envelope.session, "")
        match event:
            case SessionCreated():
                return creation(envelope, event)
            case GrantAdded(grant=grant):
                return AuditEntry(
                    kind="grant.added",
                    ts=ts,
                    by=grant.by,
                    session=session,
                    owner=owner,
                    call_id=grant.from_call,
                    tool=grant.tool,
                    about=grant.reach,
                    reference=grant.id,
                )
            case GrantRevoked():
                return AuditEntry(
                    kind="grant.revoked", ts=ts, by=event.by, session=session, owner=owner, reference=event.grant_id
                )
            case ModeChanged():
                return AuditEntry(
                    kind="mode.changed", ts=ts, by=event.by, session=session, owner=owner, outcome=event.mode
                )


def creation(envelope: Envelope, event: SessionCreated) -> AuditEntry:
    return AuditEntry(
        kind="session.created",
        ts=envelope.ts,
        by=event.by,
        session=envelope.session,
        owner=event.owner,
        outcome=event.mode,
        about=event.folder,
        reference=event.forked_from or "",
    )


def deletion(info: SessionInfo, by: str) -> AuditEntry:
    return AuditEntry(
        kind="session.deleted", ts=time.time(), by=by, session=info.id, owner=info.owner, about=info.title
    )


def masked(entry: AuditEntry, mask: Callable[[str], str]) -> AuditEntry:
    """The record outlives its session: it must not keep the secrets of a command. Texts are cut after masking, so that
    half a secret is never left. A new session's folder is only a name, and the search would delay its first request."""
    if entry.kind == "session.created":
        return entry
    about, reason = _short(mask(entry.about[:MASKED_LENGTH])), _short(mask(entry.reason[:MASKED_LENGTH]))
    return entry if (about, reason) == (entry.about, entry.reason) else replace(entry, about=about, reason=reason)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ABOUT_LENGTH else f"{line[: ABOUT_LENGTH - 1]}…"


def _shown(approval: Approval) -> _Asked:
    return _Asked(approval.tool, _about(approval.details), approval.digest)


def _about(details: Details) -> str:
    match details:
        case EditDetails(path=path):
            return path
        case ExecDetails(command=command):
            return command
        case InfoDetails(prompt=prompt):
            return prompt
        case McpDetails(server=server, tool=tool):
            return f"{server}: {tool}"
        case AskDetails(questions=questions):
            return questions[0].question if questions else ""
