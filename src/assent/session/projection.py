"""What a batch of events changes in the index: the list of sessions, the waiting approvals, what was spent.

Pure, so that every backend stores the same: it knows events, and neither SQL nor tables.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from assent.agent.spending import Spending, day_of, spending_of
from assent.approval import Approval
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallScheduled,
    ChatCompressed,
    Envelope,
    Event,
    ModeChanged,
    ModelChanged,
    ModelReplied,
    PromptSubmitted,
    SessionArchived,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
    TurnFinished,
)
from assent.session.log import Waiting, title_of

_KINDS: tuple[Any, ...] = (
    *(SessionCreated, SessionOpened, SessionRenamed, PromptSubmitted, TurnFinished, ModeChanged, ModelChanged),
    *(ApprovalRequested, ApprovalAnswered, CallScheduled, CallFinished, ModelReplied, ChatCompressed, SessionArchived),
)
INDEXED: tuple[str, ...] = tuple(kind.__struct_config__.tag for kind in _KINDS)
"""The types of the events that change the index, as the log names them."""

encode_approval = msgspec.json.Encoder().encode
_decode_approval = msgspec.json.Decoder(Approval).decode


def changed_at(envelopes: Sequence[Envelope]) -> float | None:
    """When something last happened in the session; None if it was only named. The list shows the newest first."""
    times = [one.ts for one in envelopes if not isinstance(one.event, SessionRenamed)]
    return times[-1] if times else None


class IndexChanges(Struct):
    """The sum of a batch of events of one session: what is to be set, not in which order."""

    columns: dict[str, str | bool] = field(default_factory=dict)
    """Of the session; only those that change."""
    first_title: str = ""
    """For a session that has no title."""
    asked: dict[str, Waiting] = field(default_factory=dict)
    """The approvals that wait afterwards, by call."""
    settled: set[str] = field(default_factory=set)
    """The calls that no longer wait, if they ever did."""
    spent: dict[str, Spending] = field(default_factory=dict)
    """By day."""


def project(envelopes: Iterable[Envelope]) -> IndexChanges:
    changes = IndexChanges()
    for envelope in envelopes:
        _add(changes, envelope)
    return changes


def _add(changes: IndexChanges, envelope: Envelope) -> None:
    event = envelope.event
    changes.columns.update(_columns(event))
    match event:
        case PromptSubmitted(text=text):
            _name(changes, title_of(text))
        case ApprovalRequested(call_id=call_id, approval=approval):
            changes.asked[call_id] = Waiting(envelope.session, call_id, envelope.ts, approval)
            changes.settled.discard(call_id)
        case CallScheduled(call_id=call_id) | CallFinished(call_id=call_id) | ApprovalAnswered(call_id=call_id):
            changes.asked.pop(call_id, None)
            changes.settled.add(call_id)
        case _:
            pass
    if (spent := spending_of(event)).requests:
        day = day_of(envelope.ts)
        changes.spent[day] = changes.spent.get(day, Spending()) + spent


def _name(changes: IndexChanges, title: str) -> None:
    """The first prompt names a session, unless it has been named."""
    if changes.columns.get("title") == "":
        changes.columns["title"] = title
    elif not changes.first_title:
        changes.first_title = title


def _columns(event: Event) -> dict[str, str | bool]:
    match event:
        case SessionCreated():
            return {"mode": event.mode, "owner": event.owner}
        case SessionOpened(client=client):
            return {"client": client}
        case SessionArchived(archived=archived):
            return {"archived": archived}
        case SessionRenamed(title=title):
            return {"title": title}
        case ModeChanged(mode=mode):
            return {"mode": mode}
        case ModelChanged(model=model):
            return {"model": model}
        case PromptSubmitted():
            return {"unfinished": True, "archived": False}
        case TurnFinished():
            return {"unfinished": False}
        case _:
            return {}


WaitingRow = tuple[str, str, float, bytes]
"""A waiting approval, as it is stored: session, call, time, approval."""


def decode_waiting(row: WaitingRow) -> Waiting:
    session, call_id, asked_at, data = row
    return Waiting(session, call_id, asked_at, _decode_approval(data))
