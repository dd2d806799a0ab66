"""The scripted model: plays a scenario in this process. The tests and the guided tour use it; it needs no network.

How the next reply is found: within a process, replies are served in order, whatever the requests are. A session that is
resumed in a new process must continue where it was, and all it knows is the conversation in the request. So the model
replays it: for each model message in the conversation, it walks the scenario as it did at the time. It skips replies
whose `when` did not hold for the results before that message, and replies that leave no message (cut, error, empty),
because they came before the one that did; the next reply is that message. This gives a second position; the later of
the two counts.

This has limits, by design. One instance serves one conversation. A new process does not remember what left no model
message in the request (a failed reply not yet retried, a summary for compression, messages that compression removed).
`{n}` is an index in the file, so it is the same before and after.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path

from assent.models.bold_subject import split_subject
from assent.models.model_protocol import (
    AuthFailed,
    BadRequest,
    BrokenStream,
    CallChunk,
    Chunk,
    ContextTooLong,
    Finished,
    ModelError,
    QuotaExhausted,
    Request,
    TextChunk,
    ThoughtChunk,
    Transient,
)
from assent.models.scripted.scenario import (
    CallSpec,
    ChunkSpec,
    ErrorSpec,
    Fill,
    ReplySpec,
    Scenario,
    Slot,
    fill_all,
    load_scenario,
    next_slot,
    unroll,
)
from assent.parts import JsonObject, Message, ModelMessage, Result

Sleep = Callable[[float], Awaitable[object]]


class ScriptedModel:
    def __init__(self, scenario: Scenario, name: str = "scripted", sleep: Sleep = asyncio.sleep) -> None:
        self._slots = unroll(scenario.replies)
        self._name = name
        self._sleep = sleep
        self._next = 0
        self.requests: list[Request] = []
        """The requests so far, for tests."""

    @classmethod
    def from_file(cls, path: Path, sleep: Sleep = asyncio.sleep) -> "ScriptedModel":
        return cls(load_scenario(path), f"scripted:{path}", sleep)

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        slot = self._take_slot(request.messages)
        for spec, fill in slot.chunks():
            if spec.pause_ms is not None:
                await self._sleep(spec.pause_ms / 1000)
            else:
                yield _chunk(spec, fill)
        yield Finished(slot.reply.finish, slot.reply.usage)

    async def close(self) -> None:
        pass

    def _take_slot(self, messages: Sequence[Message]) -> Slot[ReplySpec[ChunkSpec]]:
        start = max(self._next, played(self._slots, messages))
        n = next_slot(self._slots, start, newest_results(messages))
        self._next = n + 1
        if n >= len(self._slots):
            raise BadRequest(f"the scenario of {self._name} is exhausted: it has {len(self._slots)} replies")
        return self._slots[n]


def played(slots: Sequence[Slot[ReplySpec[ChunkSpec]]], messages: Sequence[Message]) -> int:
    """The position in the scenario from which to look for the reply after the conversation's last model message."""
    at = 0
    for index, message in enumerate(messages):
        if isinstance(message, ModelMessage):
            results = newest_results(messages[:index])
            at = next_slot(slots, at, results)
            while at < len(slots) and not slots[at].reply.leaves_message:
                at = next_slot(slots, at + 1, results)
            at += 1
    return at


def newest_results(messages: Sequence[Message]) -> list[JsonObject]:
    """The results that answer the newest model message."""
    results: list[JsonObject] = []
    for message in reversed(messages):
        if isinstance(message, ModelMessage):
            break
        results += [part.response for part in message.parts if isinstance(part, Result)]
    return results


def _chunk(spec: ChunkSpec, fill: Fill) -> Chunk:
    signature = spec.signature
    match spec:
        case ChunkSpec(text=str(text)):
            return TextChunk(fill(text), signature)
        case ChunkSpec(thought=str(thought)):
            subject, description = split_subject(fill(thought))
            return ThoughtChunk(description, signature, subject)
        case ChunkSpec(call=CallSpec(name, args, call_id)):
            return CallChunk(fill(name), fill_all(args, fill), fill(call_id) if call_id else None, signature)
        case ChunkSpec(error=ErrorSpec() as error):
            raise _error(error, fill)
        case _:
            raise BrokenStream("the reply ended before it was complete (the scenario cuts it here)")


def _error(spec: ErrorSpec, fill: Fill) -> ModelError:
    message = fill(spec.message)
    match spec.kind:
        case "auth":
            return AuthFailed(message)
        case "quota":
            return QuotaExhausted(message)
        case "transient":
            return Transient(message, spec.retry_after)
        case "bad_request":
            return BadRequest(message)
        case "context_too_long":
            return ContextTooLong(message)
