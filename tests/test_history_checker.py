"""The checker of cluster histories finds each fault that is planted in a good history, and nothing else."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.approval import Approval, InfoDetails, Outcome
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallRequested,
    CallStarted,
    CallStatus,
    CommandTaken,
    DurableEvent,
    Envelope,
    PromptSubmitted,
    SessionOpened,
    TurnFinished,
)
from assent.parts import Result
from support.history import Command, Effect, Fault, History, Kind, Watched, check

Plant = Callable[[History], History]
Log = tuple[Envelope, ...]


def turn(session: str, n: int, outcome: Outcome = "proceed_once", status: CallStatus = "success") -> list[DurableEvent]:
    call, prompt = f"c{n}", f"{session}#{n}"
    asked = Approval(id=f"a{n}", digest="d", details=InfoDetails("run"), options=(outcome,), why="it runs")
    ran: list[DurableEvent] = [CallStarted(call, "d")] if outcome != "cancel" else []
    return [
        PromptSubmitted(prompt, "go", "ann", f"p{n}"),
        CommandTaken(f"p{n}", "ann"),
        CallRequested(CallRequest(call_id=call, tool="run", args={}, prompt_id=prompt)),
        ApprovalRequested(call, asked),
        ApprovalAnswered(call_id=call, approval_id=f"a{n}", outcome=outcome, by="ann", key=f"d{n}"),
        CommandTaken(f"d{n}", "ann"),
        *ran,
        CallFinished(call_id=call, status=status, result=Result(call, "run", {})),
        TurnFinished(prompt, "completed"),
    ]


def numbered(session: str, events: list[DurableEvent]) -> Log:
    return tuple(Envelope(seq, 1.0, session, event) for seq, event in enumerate(events, 1))


def log_of(session: str) -> Log:
    """A call that is done, one that a lost worker left behind, and one that someone refused."""
    lost = turn(session, 2, status="error")
    lost.insert(-2, SessionOpened(20, "work"))
    return numbered(
        session,
        [SessionOpened(10, "work"), *turn(session, 1), *lost, *turn(session, 3, "cancel", "cancelled")],
    )


def commands_of(session: str) -> list[Command]:
    answers: list[Outcome] = ["proceed_once", "proceed_once", "cancel"]
    prompts = [Command(session, f"p{n}") for n in (1, 2, 3)]
    return [*prompts, *(Command(session, f"d{n}", outcome) for n, outcome in enumerate(answers, 1))]


def good() -> History:
    sessions = ("s1", "s2")
    logs = {session: log_of(session) for session in sessions}
    return History(
        logs,
        tuple(command for session in sessions for command in commands_of(session)),
        tuple(Watched(session, watcher, logs[session]) for session in sessions for watcher in ("w1", "w2")),
        tuple(Effect(session, "c1") for session in sessions),
    )


def with_log(history: History, events: list[DurableEvent]) -> History:
    """With another log of the first session, which its watchers saw as it is."""
    log = numbered("s1", events)
    watched = tuple(replace(one, events=log) if one.session == "s1" else one for one in history.watched)
    return replace(history, logs=history.logs | {"s1": log}, watched=watched)


def durable(envelope: Envelope) -> DurableEvent:
    assert isinstance(envelope.event, DurableEvent)
    return envelope.event


def in_log(change: Callable[[list[DurableEvent]], list[DurableEvent]]) -> Plant:
    return lambda history: with_log(history, change([durable(envelope) for envelope in history.logs["s1"]]))


def in_stream(change: Callable[[Log], Log]) -> Plant:
    def plant(history: History) -> History:
        first, *rest = history.watched
        return replace(history, watched=(replace(first, events=change(first.events)), *rest))

    return plant


def without(kind: type[DurableEvent], number: int = 0) -> Plant:
    def change(events: list[DurableEvent]) -> list[DurableEvent]:
        gone = [event for event in events if isinstance(event, kind)][number]
        return [event for event in events if event is not gone]

    return in_log(change)


def with_effects(*more: Effect) -> Plant:
    return lambda history: replace(history, effects=(*history.effects, *more))


def earlier(events: list[DurableEvent]) -> list[DurableEvent]:
    """The first call starts before it is answered."""
    started = next(event for event in events if isinstance(event, CallStarted))
    at = next(n for n, event in enumerate(events) if isinstance(event, ApprovalAnswered))
    rest = [event for event in events if event is not started]
    return [*rest[:at], started, *rest[at:]]


def asked_again(events: list[DurableEvent]) -> list[DurableEvent]:
    """After the answer, something else was shown, to which nobody said yes."""
    at = next(n for n, event in enumerate(events) if isinstance(event, CallStarted))
    asked = next(event for event in events if isinstance(event, ApprovalRequested))
    return [*events[:at], replace(asked, approval=replace(asked.approval, id="other")), *events[at:]]


def answered_by_two(events: list[DurableEvent]) -> list[DurableEvent]:
    """As if each side of a partition had decided for itself."""
    at, answer = next((n, event) for n, event in enumerate(events) if isinstance(event, ApprovalAnswered))
    return [*events[: at + 1], replace(answer, by="bob", key="other"), *events[at + 1 :]]


def fallen_back(history: History) -> History:
    """The primary died, and the standby that took over did not have the last turn, which everyone had seen."""
    at = max(n for n, envelope in enumerate(history.logs["s1"]) if isinstance(envelope.event, PromptSubmitted))
    return replace(history, logs=history.logs | {"s1": history.logs["s1"][:at]})


def gone(history: History) -> History:
    return replace(history, logs=history.logs | {"s1": ()}, watched=history.watched[2:])


def written_by_both(history: History) -> History:
    """The old primary went on alone, and its watchers saw what it wrote; the log of the new one has something else."""
    log = history.logs["s1"]
    other = tuple(replace(envelope, ts=9.0) if envelope.seq > 20 else envelope for envelope in log)
    return replace(history, logs=history.logs | {"s1": other}, watched=history.watched[1:])


def repeated(kind: type[DurableEvent]) -> Plant:
    def change(events: list[DurableEvent]) -> list[DurableEvent]:
        at = next(n for n, event in enumerate(events) if isinstance(event, kind))
        return [*events[: at + 1], *events[at:]]

    return in_log(change)


def nobody_sent_the_answers(history: History) -> History:
    return replace(history, commands=tuple(one for one in history.commands if one.outcome is None))


PLANTS: dict[str, tuple[Plant, set[tuple[Kind, str]]]] = {
    "a prompt is not in the log": (without(PromptSubmitted), {("command lost", "s1")}),
    "an answer is not in the log": (
        without(ApprovalAnswered, 2),
        {("command lost", "s1")},
    ),
    "a command stays in the inbox": (without(CommandTaken), {("command lost", "s1")}),
    "a prompt counts twice": (repeated(PromptSubmitted), {("command taken twice", "s1")}),
    "an answer counts twice": (
        repeated(ApprovalAnswered),
        {("command taken twice", "s1"), ("answered twice", "s1")},
    ),
    "two servers take an answer each": (
        in_log(answered_by_two),
        {("answered twice", "s1"), ("effect without approval", "s1")},
    ),
    "an effect is there twice": (with_effects(Effect("s1", "c1")), {("effect twice", "s1")}),
    "an effect is missing": (
        lambda history: replace(history, effects=history.effects[1:]),
        {("effect lost", "s1")},
    ),
    "a refused call has an effect": (with_effects(Effect("s1", "c3")), {("effect of an unknown call", "s1")}),
    "nobody knows the call of an effect": (with_effects(Effect("s1", "c9")), {("effect of an unknown call", "s1")}),
    "nobody knows the session of an effect": (with_effects(Effect("s9", "c1")), {("effect of an unknown call", "s9")}),
    "a call starts before its answer": (in_log(earlier), {("effect without approval", "s1")}),
    "a call starts after another question": (in_log(asked_again), {("effect without approval", "s1")}),
    "nobody sent the answers": (
        nobody_sent_the_answers,
        {("effect without approval", "s1"), ("effect without approval", "s2")},
    ),
    "a call starts twice": (repeated(CallStarted), {("started twice", "s1")}),
    "an old writer comes back": (
        in_log(lambda events: [*events, SessionOpened(15, "work")]),
        {("writer came back", "s1")},
    ),
    "a turn has no end": (without(TurnFinished, 2), {("session did not end", "s1")}),
    "a call has no end": (without(CallFinished, 1), {("session did not end", "s1")}),
    "a watcher misses an event": (in_stream(lambda log: (*log[:3], *log[4:])), {("stream has a gap", "s1")}),
    "a watcher sees an event twice": (in_stream(lambda log: (*log[:4], *log[3:])), {("stream repeats", "s1")}),
    "a watcher sees old events again": (
        in_stream(lambda log: (*log[:4], log[1], *log[4:])),
        {("stream goes back", "s1")},
    ),
    "a watcher sees two events the wrong way round": (
        in_stream(lambda log: (*log[:3], log[4], log[3], *log[5:])),
        {("stream has a gap", "s1"), ("stream goes back", "s1")},
    ),
    "a watcher sees something else": (
        in_stream(lambda log: (*log[:3], replace(log[3], ts=2.0), *log[4:])),
        {("stream differs", "s1")},
    ),
    "a fail-over loses what was acknowledged": (fallen_back, {("command lost", "s1"), ("event lost", "s1")}),
    "a fail-over loses a session": (
        gone,
        {("session lost", "s1"), ("command lost", "s1"), ("effect of an unknown call", "s1")},
    ),
    "two primaries write": (written_by_both, {("stream differs", "s1")}),
    "a clock that is wrong lets an old writer in": (
        in_log(lambda events: [*events, SessionOpened(20, "work")]),
        {("writer came back", "s1")},
    ),
    "a worker that was frozen goes on with its command": (
        with_effects(Effect("s1", "c1"), Effect("s1", "c2"), Effect("s1", "c2")),
        {("effect twice", "s1")},
    ),
    "a watcher does not see the end": (in_stream(lambda log: log[:-1]), {("stream ends early", "s1")}),
}


def kinds(faults: list[Fault]) -> set[tuple[Kind, str]]:
    return {(fault.kind, fault.session) for fault in faults}


def test_a_good_history_has_no_fault():
    assert check(good()) == []


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found_and_nothing_else(name: str):
    plant, expected = PLANTS[name]
    assert kinds(check(plant(good()))) == expected


def test_a_gap_in_the_log_is_found():
    history = good()
    log = history.logs["s1"]
    gap = replace(history, logs=history.logs | {"s1": (*log[:3], *log[4:])}, watched=())
    assert ("log has a gap", "s1") in kinds(check(gap))


def test_a_refused_command_is_not_lost():
    refused = in_log(lambda events: [*events, CommandTaken("late", "ann", "already answered")])(good())
    assert check(replace(refused, commands=(*refused.commands, Command("s1", "late", "cancel")))) == []


def test_a_command_that_was_not_acknowledged_may_be_lost():
    history = good()
    assert check(replace(history, commands=(*history.commands, Command("s1", "x", None, acknowledged=False)))) == []


def test_a_watcher_that_begins_later_needs_only_the_rest():
    history = good()
    first, *rest = history.watched
    assert check(replace(history, watched=(replace(first, events=first.events[5:], after=5), *rest))) == []


@given(st.permutations(range(4)), st.permutations(range(2)), st.lists(st.sampled_from(sorted(PLANTS)), max_size=1))
def test_the_order_in_which_a_history_was_recorded_does_not_matter(
    streams: list[int], effects: list[int], names: list[str]
):
    history = good()
    for name in names:
        history = PLANTS[name][0](history)
    shuffled = replace(
        history,
        logs=dict(reversed(history.logs.items())),
        commands=history.commands[::-1],
        watched=tuple(history.watched[n] for n in streams if n < len(history.watched)),
        effects=tuple(history.effects[n] for n in effects if n < len(history.effects)) + history.effects[2:],
    )
    assert check(shuffled) == check(history)


@given(st.data())
def test_any_change_of_a_stream_is_found(data: st.DataObject):
    log = log_of("s1")
    seen = data.draw(st.lists(st.sampled_from(log), max_size=len(log) + 3).filter(lambda seen: tuple(seen) != log))
    history = replace(good(), watched=(Watched("s1", "w1", tuple(seen)),))
    assert {fault.session for fault in check(history)} == {"s1"}
