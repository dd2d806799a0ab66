"""A streamed reply of the Responses API: JSON events in, chunks out, and a verdict at the end. Pure.

A reply is a sequence of items (thoughts, messages, calls), each with its own beginning and end; other servers that use
this format end all items together, or leave events out. One event ends the reply: completed, incomplete or failed.
Unknown fields and events are ignored; a known event of the wrong shape breaks the whole reply.
"""

from typing import Any

import msgspec
from msgspec import Struct

from assent.models.bold_subject import SubjectSplitter
from assent.models.model_protocol import BrokenStream, Chunk, Finished, TextChunk, ThoughtChunk, Withheld
from assent.models.openai.openai_failures import failure_in_stream
from assent.models.openai.responses_request import Phase
from assent.models.streamed_calls import ChunkQueue
from assent.models.wire_json import decode_event
from assent.parts import FinishReason, Usage


class _Piece(Struct, gc=False):
    """A piece of a message's content, or of a thought's summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(Struct, gc=False):
    type: str
    id: str | None = None
    status: str | None = None
    content: list[_Piece] | None = None
    summary: list[_Piece] | None = None
    encrypted_content: str | None = None
    phase: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class _InputDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None
    error: Any = None


class _Event(Struct):
    type: str = ""
    delta: str | None = None
    item: _Item | None = None
    item_id: str | None = None
    summary_index: int = 0
    response: _Response | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Event).decode


class ResponsesReply:
    """Reads one reply. `limit` is the requested maximum length, in tokens; `used_ids` are the ids of earlier calls."""

    def __init__(self, model: str, limit: int | None, used_ids: set[str]) -> None:
        self._model = model
        self._limit = limit
        self._queue = ChunkQueue(model, used_ids)
        self._subjects = SubjectSplitter()
        self._open_calls = 0
        self._streamed: set[str | None] = set()
        """Items whose text arrived in deltas."""
        self._has_content = self._refused = False
        self._finish: FinishReason | None = None
        self._said = ""
        self._usage = Usage()

    def chunks(self, data: bytes) -> list[Chunk]:
        if not data or data == b"[DONE]" or self._finish is not None:
            return []
        event = decode_event(_decode, data, self._model)
        if event.error is not None or event.type in ("error", "response.failed"):
            raise failure_in_stream(data, self._model)
        return self._read(event)

    def end(self, *, cut: bool) -> list[Chunk]:
        if cut or self._finish is None:
            raise BrokenStream(f"the reply from {self._model} ended before it was complete")
        if self._finish == "safety" and not self._has_content:
            raise Withheld(f"{self._model} withheld its reply ({self._said})")
        return [Finished(self._finish, self._usage, self._said)]

    def _read(self, event: _Event) -> list[Chunk]:
        match event.type:
            case "response.output_text.delta":
                return self._say(event.item_id, event.delta)
            case "response.refusal.delta":
                self._refused = True
                return self._say(event.item_id, event.delta)
            case "response.reasoning_summary_text.delta":
                self._streamed.add(event.item_id)
                return self._think(self._subjects.feed(event.delta or "", event.summary_index))
            case "response.reasoning_text.delta":
                self._streamed.add(event.item_id)
                return self._think([("", event.delta or "")])
            case "response.output_item.added" if event.item is not None:
                self._open_calls += event.item.type == "function_call"
            case "response.output_item.done" if event.item is not None:
                return self._finish_item(event.item)
            case "response.completed" | "response.incomplete":
                return self._stop(event.response or _Response())
            case _:
                pass
        return []

    def _say(self, item_id: str | None, text: str | None) -> list[Chunk]:
        self._streamed.add(item_id)
        if not text:
            return []
        self._has_content = True
        return self._queue.put(TextChunk(text))

    def _think(self, pieces: list[tuple[str, str]]) -> list[Chunk]:
        """A piece may have a subject, which begins a new thought."""
        return [
            chunk
            for subject, text in pieces
            if subject or text
            for chunk in self._queue.put(ThoughtChunk(text, subject=subject))
        ]

    # --- items ---

    def _finish_item(self, item: _Item) -> list[Chunk]:
        match item.type:
            case "reasoning":
                return self._finish_thought(item)
            case "message":
                return self._finish_message(item)
            case "function_call":
                self._open_calls -= 1
                self._has_content = True
                is_whole = item.status != "incomplete"
                return self._queue.put_call(item.name or "", item.arguments or "", item.call_id, is_whole=is_whole)
            case _:
                return []

    def _finish_thought(self, item: _Item) -> list[Chunk]:
        """The signature comes with the finished item; the one at its beginning may be incomplete."""
        chunks = [] if item.id in self._streamed else self._unstreamed_thought(item)
        chunks += self._think(self._subjects.end())
        if item.encrypted_content:
            chunks += self._queue.put(ThoughtChunk("", item.encrypted_content))
        return chunks

    def _unstreamed_thought(self, item: _Item) -> list[Chunk]:
        pieces = enumerate(item.summary or item.content or ())
        return [chunk for n, piece in pieces for chunk in self._think(self._subjects.feed(piece.text or "", n))]

    def _finish_message(self, item: _Item) -> list[Chunk]:
        chunks: list[Chunk] = []
        if item.id not in self._streamed:
            for piece in item.content or ():
                self._refused = self._refused or bool(piece.refusal)
                chunks += self._say(item.id, piece.text or piece.refusal)
        if item.phase:
            chunks += self._queue.put(TextChunk("", msgspec.json.encode(Phase(item.phase)).decode()))
        return chunks

    # --- the end ---

    def _stop(self, response: _Response) -> list[Chunk]:
        self._usage = _count(response.usage or _Usage())
        reason = (response.incomplete_details or _Incomplete()).reason or ""
        limited = reason == "max_output_tokens" or self._reached_limit(response.usage)
        chunks = self._queue.settle(limited=limited)
        if self._open_calls > 0 and not reason:
            raise BrokenStream(f"{self._model} began a call and did not finish it")
        self._finish, self._said = self._finish_reason(reason, limited), reason
        return self._think(self._subjects.end()) + chunks

    def _reached_limit(self, usage: _Usage | None) -> bool:
        """llama.cpp reports a reply as completed even if the limit cut it."""
        return usage is not None and self._limit is not None and (usage.output_tokens or 0) >= self._limit

    def _finish_reason(self, reason: str, limited: bool) -> FinishReason:
        if limited:
            return "max_tokens"
        if reason == "content_filter" or self._refused:
            return "safety"
        return "other" if reason else "stop"


def _count(usage: _Usage) -> Usage:
    given, made = usage.input_tokens or 0, usage.output_tokens or 0
    of_input = usage.input_tokens_details or _InputDetails()
    of_output = usage.output_tokens_details or _OutputDetails()
    thoughts = min(made, of_output.reasoning_tokens or 0)
    cached = min(given, of_input.cached_tokens or 0)
    written = min(given - cached, of_input.cache_write_tokens or 0)
    return Usage(input=given, output=made - thoughts, thoughts=thoughts, cached=cached, cache_written=written)
