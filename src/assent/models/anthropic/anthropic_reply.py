"""Anthropic's streamed reply: JSON events in, chunks out, and a verdict at the end. Pure; it knows no network.

A reply is a sequence of blocks, each with a start, deltas and a stop; other servers that use this format stop several
blocks together at the end, or send the whole message in one document. Only `message_stop` ends a stream. Unknown fields
and events are ignored; a known event of the wrong shape breaks the whole reply.
"""

from typing import Any

import msgspec
from msgspec import Struct

from assent.models.anthropic.anthropic_failures import failure_in_stream
from assent.models.anthropic.anthropic_signature import keep_redacted, keep_signature
from assent.models.finish_words import finish_reason, later_word
from assent.models.model_protocol import BrokenStream, Chunk, Finished, TextChunk, ThoughtChunk, Withheld
from assent.models.streamed_calls import ChunkQueue
from assent.models.wire_json import DONE, Count, count, decode_event, encode_json
from assent.parts import FinishReason, JsonObject, Usage


class _Block(Struct, gc=False, kw_only=True):
    type: str
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: JsonObject | str | list[Any] | None = None


class _StopDetails(Struct, gc=False):
    category: str | None = None
    explanation: str | None = None


class _Delta(Struct, gc=False, kw_only=True):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _OutputDetails(Struct):
    thinking_tokens: Count = None


class _Usage(Struct):
    """Some of it arrives at the start and some at the end; for a field that arrives twice, the last value counts. A
    zero does not take back what was counted as input: gateways fill in zeros for what they do not know.
    """

    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    output_tokens_details: _OutputDetails | None = None


class _Message(Struct):
    usage: _Usage | None = None


class _Event(Struct, kw_only=True):
    type: str = ""
    index: int | None = 0
    message: _Message | str | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None
    content: list[_Block] | str | None = None
    """Like `stop_reason` and `stop_details`, of a whole message in one document."""
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


_decode = msgspec.json.Decoder(_Event, strict=False).decode


class _OpenBlock:
    """A block that has begun."""

    def __init__(self, block: _Block) -> None:
        self.block = block
        self.signature = [block.signature or ""]
        self.json: list[str] = []


class AnthropicReply:
    """Reads one reply. `past` identifies what came before it, for the signatures of its thoughts; `limit` is the
    requested maximum length, in tokens; `used_ids` are the ids of earlier calls.
    """

    def __init__(self, model: str, past: str, limit: int, used_ids: set[str]) -> None:
        self._model = model
        self._past = past
        self._limit = limit
        self._open: dict[int, _OpenBlock] = {}
        self._queue = ChunkQueue(model, used_ids)
        self._usage = _Usage()
        self._reason: str | None = None
        self._details = _StopDetails()
        self._has_content = False
        self._stopped = False

    @property
    def ended(self) -> bool:
        return self._stopped

    def chunks(self, data: bytes) -> list[Chunk]:
        if not data or self._stopped:
            return []
        if data == DONE:  # some gateways end with it instead of `message_stop`
            return self._stop() if self._reason is not None else []
        event = decode_event(_decode, data, self._model)
        if event.error is not None:
            raise failure_in_stream(data, self._model)
        return self._read(event)

    def end(self, *, cut: bool) -> list[Chunk]:
        if not self._stopped or self._reason is None:  # what comes after the last event does not matter
            raise BrokenStream(f"the reply from {self._model} ended before it was complete")
        reason = self._finish_reason()
        if reason == "safety" and not self._has_content:
            raise Withheld(f"{self._model} refuses to answer. {self._said(reason)}")
        return [Finished(reason, _count(self._usage), self._said(reason))]

    def _read(self, event: _Event) -> list[Chunk]:
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._continue(event.index or 0, event.delta)
            case "content_block_start" if event.content_block is not None:
                return self._begin(event.index or 0, event.content_block)
            case "content_block_stop":
                return self._finish_block(event.index or 0)
            case "message_start" if isinstance(event.message, _Message):
                self._usage = event.message.usage or self._usage
            case "message_delta":
                self._note(event)
            case "message_stop":
                return self._stop()
            case "message":
                return self._whole(event)
            case _:  # ping, and unknown events
                pass
        return []

    # --- blocks ---

    def _begin(self, index: int, block: _Block) -> list[Chunk]:
        if (begun := self._open.get(index)) is not None and block.id and begun.block.id == block.id:
            return []  # a gateway has sent the start twice; the call is yet to come
        before = self._finish_block(index)  # a server that stops no block may give all of them the same number
        self._open[index] = _OpenBlock(block)
        match block.type:
            case "text" if block.text:
                return before + self._say(block.text)
            case "thinking" if block.thinking:
                return before + self._queue.put(ThoughtChunk(block.thinking))
            case "redacted_thinking" if block.data:
                return before + self._queue.put(ThoughtChunk("", keep_redacted(block.data, self._past)))
            case "tool_use":
                self._has_content = True
            case _:
                pass
        return before

    def _continue(self, index: int, delta: _Delta) -> list[Chunk]:
        match delta.type:
            case "text_delta" | None if delta.text:
                return self._say(delta.text)
            case "thinking_delta" | None if delta.thinking:
                return self._queue.put(ThoughtChunk(delta.thinking))
            case "input_json_delta" | None if delta.partial_json is not None:
                self._block(index).json.append(delta.partial_json)
            case "signature_delta" | None if delta.signature:
                self._block(index).signature.append(delta.signature)
            case _:  # citations
                pass
        return []

    def _say(self, text: str) -> list[Chunk]:
        self._has_content = True
        return self._queue.put(TextChunk(text))

    def _block(self, index: int) -> _OpenBlock:
        if index not in self._open:
            raise BrokenStream(f"{self._model} continued a block that had not begun")
        return self._open[index]

    def _finish_block(self, index: int) -> list[Chunk]:
        done = self._open.pop(index, None)
        if done is None:
            return []
        match done.block:
            case _Block(type="thinking") if signature := "".join(done.signature):
                return self._queue.put(ThoughtChunk("", keep_signature(signature, self._past)))
            case _Block(type="tool_use"):
                return self._queue.put_call(done.block.name or "", _arguments(done), done.block.id)
            case _:
                return []

    # --- the message ---

    def _whole(self, event: _Event) -> list[Chunk]:
        """A message in one document, to a request for a stream."""
        self._usage = event.usage or self._usage
        self._reason, self._details = event.stop_reason, event.stop_details or self._details
        blocks = [_Block(type="text", text=event.content)] if isinstance(event.content, str) else event.content or []
        chunks = [chunk for block in blocks for chunk in self._begin(0, block)]
        return chunks + self._stop()

    def _note(self, event: _Event) -> None:
        if event.usage is not None:
            self._usage = _merged(self._usage, event.usage)
        if event.delta is not None and event.delta.stop_reason is not None:
            self._reason = later_word(self._reason or "", event.delta.stop_reason)
            self._details = event.delta.stop_details or self._details

    def _stop(self) -> list[Chunk]:
        chunks = [chunk for index in sorted(self._open) for chunk in self._finish_block(index)]
        self._stopped = True
        return chunks + self._queue.settle(limited=self._finish_reason() == "max_tokens")

    def _finish_reason(self) -> FinishReason:
        """LiteLLM reports a call as the end of the reply even if the limit cut the call."""
        reason = finish_reason(self._reason or "")
        return "max_tokens" if reason == "stop" and count(self._usage.output_tokens) >= self._limit else reason

    def _said(self, reason: FinishReason) -> str:
        if reason in ("stop", "max_tokens"):
            return ""
        words = (self._reason, self._details.category, self._details.explanation)
        return ": ".join(word for word in words if word)


def _arguments(done: _OpenBlock) -> str:
    """Usually in deltas; a server may send them with the start instead."""
    text = "".join(done.json)
    given = done.block.input
    if text.strip() or not given:
        return text
    return given if isinstance(given, str) else encode_json(given).decode()


def _merged(first: _Usage, later: _Usage) -> _Usage:
    fields = {name: getattr(first, name) for name in _Usage.__struct_fields__}
    said = {name: value for name in fields if (value := getattr(later, name)) is not None}
    return _Usage(**(fields | {name: value for name, value in said.items() if value or name.startswith("output")}))


def _count(usage: _Usage) -> Usage:
    cached, written = count(usage.cache_read_input_tokens), count(usage.cache_creation_input_tokens)
    output = count(usage.output_tokens)
    details = usage.output_tokens_details
    thoughts = min(output, count(details.thinking_tokens) if details is not None else 0)
    return Usage(
        input=count(usage.input_tokens) + cached + written,
        output=output - thoughts,
        thoughts=thoughts,
        cached=cached,
        cache_written=written,
    )
