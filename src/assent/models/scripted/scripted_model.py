"""The scripted model: plays a scenario in process. The base of the tests and of the guided tour; it needs no network.

Which reply comes next. Within a process, replies are simply served in order, whatever the requests are. A session that
is resumed in a new process must go on where it was, and all it knows of the past is the conversation in the request.
So the past is played again: for each model message there, walk the scenario as it was walked then. Replies whose `when`
did not hold for the results before that message are skipped; replies that leave no message (cut, error, empty) are
passed too, because they were tried before the one that did; the next one is that message. Of the two positions, the one
in this process and the one found so, the later counts.

That has limits, and they are meant. One instance serves one conversation. What left no model message in the request (a
failed reply not yet retried, a summary for compression, messages that compression removed) is not remembered by a new
process. `{n}` counts in the file, so it is the same before and after.
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
        """What it was asked, for tests."""

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
    """How far into the scenario a conversation is: where the reply after its last model message is looked for."""
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
            raise BrokenStream("the reply ended before it was finished (the scenario cuts it here)")


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
