"""Checks the history of a cluster, in the manner of Jepsen: what clients sent and saw, the log, and what is on disk.

Whoever runs the cluster records what happened from outside; `check` knows nothing about how it was run. A call's side
effect is one line in a file, with the id of the call, so that it can be counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from msgspec import Struct

from assent.approval import Outcome
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequested,
    CallStarted,
    CommandTaken,
    DurableEvent,
    Envelope,
    PromptSubmitted,
    SessionOpened,
    TurnFinished,
)

EventT = TypeVar("EventT", bound=DurableEvent)
YES: tuple[Outcome, ...] = ("proceed_once", "proceed_always")
Kind = Literal[
    "session lost",
    "log has a gap",
    "writer came back",
    "command lost",
    "command taken twice",
    "answered twice",
    "effect twice",
    "effect lost",
    "effect of an unknown call",
    "effect without approval",
    "started twice",
    "stream has a gap",
    "stream repeats",
    "stream goes back",
    "stream differs",
    "event lost",
    "stream ends early",
    "session did not end",
]


class Command(Struct, frozen=True):
    """A command of a client. `key` is the name under which the session records it, as the server said."""

    session: str
    key: str
    outcome: Outcome | None = None
    """For an answer; None for a prompt."""
    acknowledged: bool = True


class Watched(Struct, frozen=True):
    """What one watcher saw of one session, over all its connections: the durable events in the order of arrival."""

    session: str
    watcher: str
    events: tuple[Envelope, ...]
    after: int = 0
    """Where it began."""


class Effect(Struct, frozen=True):
    """A line that a call left on disk."""

    session: str
    call_id: str


class History(Struct, frozen=True):
    logs: dict[str, tuple[Envelope, ...]]
    """The final logs, by session; empty for a session that was created, and is not there."""
    commands: tuple[Command, ...] = ()
    watched: tuple[Watched, ...] = ()
    effects: tuple[Effect, ...] = ()


class Fault(Struct, frozen=True, order=True):
    kind: Kind
    session: str
    about: str = ""


def check(history: History) -> list[Fault]:
    """Everything that must not have happened, sorted; empty if the history is good."""
    found = [fault for session, log in history.logs.items() for fault in _check_log(session, log)]
    found += _check_commands(history)
    found += _check_effects(history)
    for watched in history.watched:
        found += _check_stream(watched, history.logs.get(watched.session, ()))
    return sorted(found)


# --- the log of one session ---


def _check_log(session: str, log: Sequence[Envelope]) -> Iterator[Fault]:
    if not log:
        yield Fault("session lost", session)
    if [envelope.seq for envelope in log] != list(range(1, len(log) + 1)):
        yield Fault("log has a gap", session)
    fences = [event.fence for event in _of(log, SessionOpened)]
    if fences != sorted(set(fences)):
        yield Fault("writer came back", session, str(fences))
    answered = _repeated(event.approval_id for event in _of(log, ApprovalAnswered))
    yield from (Fault("answered twice", session, approval) for approval in answered)
    yield from (Fault("started twice", session, call) for call in _repeated(e.call_id for e in _of(log, CallStarted)))
    if open_calls := {e.request.call_id for e in _of(log, CallRequested)} - {e.call_id for e in _of(log, CallFinished)}:
        yield Fault("session did not end", session, f"open calls: {sorted(open_calls)}")
    elif open_turns := {e.prompt_id for e in _of(log, PromptSubmitted)} - {e.prompt_id for e in _of(log, TurnFinished)}:
        yield Fault("session did not end", session, f"open turns: {sorted(open_turns)}")


# --- commands ---


def _check_commands(history: History) -> Iterator[Fault]:
    """What was acknowledged took effect, or was refused in the log. What was not may have done so, but only once."""
    for session, commands in _by_session(history.commands).items():
        log = history.logs.get(session, ())
        taken = [event.key for event in _of(log, CommandTaken)]
        effective = [event.key for event in _of(log, PromptSubmitted)]
        effective += [event.key for event in _of(log, ApprovalAnswered)]
        refused = {event.key for event in _of(log, CommandTaken) if event.problem}
        lost = {one.key for one in commands if one.acknowledged} - (set(effective) & set(taken)) - refused
        yield from (Fault("command lost", session, key) for key in lost)
        sent = {one.key for one in commands}
        twice = {*_repeated(taken), *_repeated(effective)} & sent
        yield from (Fault("command taken twice", session, key) for key in twice)


# --- side effects ---


def _check_effects(history: History) -> Iterator[Fault]:
    done = Counter((effect.session, effect.call_id) for effect in history.effects)
    yield from (Fault("effect twice", session, call) for (session, call), times in done.items() if times > 1)
    for session, call in done:
        yield from _check_cause(history, session, call)
    for session, log in history.logs.items():
        for event in _of(log, CallFinished):
            if event.status == "success" and not done[session, event.call_id]:
                yield Fault("effect lost", session, event.call_id)


def _check_cause(history: History, session: str, call: str) -> Iterator[Fault]:
    """The call started, and before that someone said yes to the newest question about it."""
    question, approved = "", False
    for event in (envelope.event for envelope in history.logs.get(session, ())):
        match event:
            case ApprovalRequested(call_id=id, approval=asked) if id == call:
                question, approved = asked.id, False
            case ApprovalAnswered(call_id=id) if id == call:
                approved = event.approval_id == question and event.outcome in YES and _was_sent(history, session, event)
            case CallStarted(call_id=id) if id == call:
                if not approved:
                    yield Fault("effect without approval", session, call)
                return
            case _:
                pass
    yield Fault("effect of an unknown call", session, call)


def _was_sent(history: History, session: str, answer: ApprovalAnswered) -> bool:
    return any(
        one.session == session and one.key == answer.key and one.outcome == answer.outcome for one in history.commands
    )


# --- streams ---


def _check_stream(watched: Watched, log: Sequence[Envelope]) -> Iterator[Fault]:
    last = watched.after
    stored = {envelope.seq: envelope for envelope in log}
    for envelope in watched.events:
        seq = envelope.seq
        if (kind := _misplaced(seq, last)) is not None:
            yield Fault(kind, watched.session, f"{watched.watcher}: {seq} after {last}")
        elif seq not in stored:
            yield Fault("event lost", watched.session, f"{watched.watcher}: {envelope}")
        elif stored[seq] != envelope:
            yield Fault("stream differs", watched.session, f"{watched.watcher}: {envelope}, and the log: {stored[seq]}")
        last = max(seq, last)
    if last < len(log):
        yield Fault("stream ends early", watched.session, f"{watched.watcher}: {last} of {len(log)}")


def _misplaced(seq: int, last: int) -> Kind | None:
    if seq == last + 1:
        return None
    if seq == last:
        return "stream repeats"
    return "stream has a gap" if seq > last else "stream goes back"


# --- helpers ---


def _of(log: Iterable[Envelope], kind: type[EventT]) -> list[EventT]:
    return [envelope.event for envelope in log if isinstance(envelope.event, kind)]


def _repeated(items: Iterable[str]) -> list[str]:
    return [item for item, times in Counter(items).items() if item and times > 1]


def _by_session(commands: Iterable[Command]) -> dict[str, list[Command]]:
    found: dict[str, list[Command]] = {}
    for one in commands:
        found.setdefault(one.session, []).append(one)
    return found
