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
from assent.models.wire_json import DONE, Count, count, decode_event, encode_json
from assent.parts import FinishReason, JsonObject, Usage


class _Piece(Struct, gc=False):
    """A piece of a message's content, or of a thought's summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


def _as_pieces(content: list[_Piece] | str | None) -> list[_Piece]:
    return [_Piece(text=content)] if isinstance(content, str) else content or []


class _Item(Struct, gc=False, kw_only=True):
    type: str
    id: str | None = None
    status: str | None = None
    content: list[_Piece] | str | None = None
    summary: list[_Piece] | str | None = None
    encrypted_content: str | None = None
    phase: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | JsonObject | list[Any] | None = None

    @property
    def pieces(self) -> list[_Piece]:
        """The content; a few servers write it as one text."""
        return _as_pieces(self.content)


class _InputDetails(Struct):
    cached_tokens: Count = None
    cache_write_tokens: Count = None


class _OutputDetails(Struct):
    reasoning_tokens: Count = None


class _Usage(Struct):
    input_tokens: Count = None
    output_tokens: Count = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    status: str | None = None
    output: list[_Item] | None = None
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None
    error: Any = None


class _Event(Struct, kw_only=True):
    type: str = ""
    delta: str | JsonObject | None = None
    """An object only in events that are not read."""
    item: _Item | None = None
    item_id: str | None = None
    part: _Piece | None = None
    text: str | None = None
    """Of a piece that has ended, like `refusal`."""
    refusal: str | None = None
    summary_index: int = 0
    response: _Response | None = None
    error: Any = None
    object: str | None = None
    """`response` for a whole reply in one document."""

    @property
    def piece(self) -> str:
        return self.delta if isinstance(self.delta, str) else ""


_decode = msgspec.json.Decoder(_Event, strict=False).decode
_decode_response = msgspec.json.Decoder(_Response, strict=False).decode


class ResponsesReply:
    """Reads one reply. `limit` is the requested maximum length, in tokens; `used_ids` are the ids of earlier calls."""

    def __init__(self, model: str, limit: int | None, used_ids: set[str]) -> None:
        self._model = model
        self._limit = limit
        self._queue = ChunkQueue(model, used_ids)
        self._subjects = SubjectSplitter()
        self._open_calls = 0
        self._call_ids: list[str | None] = []
        """Of calls that have ended."""
        self._streamed: set[str | None] = set()
        """Items whose text arrived in deltas."""
        self._newest_text: list[str] = []
        """The deltas since the last message ended: gateways give an item another id in every event."""
        self._done: set[bytes] = set()
        """Items that have ended; some servers end one twice."""
        self._has_content = self._refused = False
        self._finish: FinishReason | None = None
        self._said = ""
        self._usage = Usage()

    @property
    def ended(self) -> bool:
        return self._finish is not None

    def chunks(self, data: bytes) -> list[Chunk]:
        if not data or data == DONE or self._finish is not None:
            return []
        event = decode_event(_decode, data, self._model)
        if event.object == "response" and not event.type:
            event = self._whole(data)
        if event.error is not None or event.type in ("error", "response.failed") or _has_failed(event.response):
            raise failure_in_stream(data, self._model)
        return self._read(event)

    def end(self, *, cut: bool) -> list[Chunk]:
        if self._finish is None:  # what comes after the last event does not matter
            raise BrokenStream(f"the reply from {self._model} ended before it was complete")
        if self._finish == "safety" and not self._has_content:
            raise Withheld(f"{self._model} withheld its reply ({self._said})")
        return [Finished(self._finish, self._usage, self._said)]

    def _whole(self, data: bytes) -> _Event:
        """A reply in one document, as its last event."""
        response = decode_event(_decode_response, data, self._model)
        if response.status in ("queued", "in_progress"):
            raise BrokenStream(f"{self._model} sent a reply that is still {response.status}")
        return _Event(type="response.completed", response=response)

    def _read(self, event: _Event) -> list[Chunk]:
        match event.type:
            case "response.output_text.delta":
                return self._say(event.item_id, event.piece)
            case "response.refusal.delta":
                self._refused = True
                return self._say(event.item_id, event.piece)
            case "response.reasoning_summary_text.delta":
                self._streamed.add(event.item_id)
                return self._think(self._subjects.feed(event.piece, event.summary_index))
            case "response.reasoning_text.delta":
                self._streamed.add(event.item_id)
                return self._think([("", event.piece)])
            case "response.output_text.done" | "response.refusal.done":
                return self._finish_piece(event.item_id, _Piece(text=event.text, refusal=event.refusal))
            case "response.content_part.done" if event.part is not None:
                return self._finish_piece(event.item_id, event.part)
            case "response.output_item.added" if event.item is not None:
                self._open_calls += event.item.type == "function_call"
            case "response.output_item.done" if event.item is not None:
                return self._finish_item(event.item)
            case "response.completed" | "response.incomplete" | "response.done":
                response = event.response or _Response()
                chunks = self._unannounced(response.output or [])
                is_incomplete = event.type == "response.incomplete" or response.status in ("incomplete", "cancelled")
                return chunks + self._stop(response, is_incomplete=is_incomplete)
            case _:
                pass
        return []

    def _say(self, item_id: str | None, text: str | None) -> list[Chunk]:
        self._streamed.add(item_id)
        if not text:
            return []
        self._has_content = True
        self._newest_text.append(text)
        return self._queue.put(TextChunk(text))

    def _finish_piece(self, item_id: str | None, piece: _Piece) -> list[Chunk]:
        """Some servers send no deltas."""
        if self._newest_text or item_id in self._streamed or piece.type.startswith("reasoning"):
            return []
        self._refused = self._refused or bool(piece.refusal)
        return self._say(item_id, piece.text or piece.refusal)

    def _think(self, pieces: list[tuple[str, str]]) -> list[Chunk]:
        """A piece may have a subject, which begins a new thought."""
        return [
            chunk
            for subject, text in pieces
            if subject or text
            for chunk in self._queue.put(ThoughtChunk(text, subject=subject))
        ]

    # --- items ---

    def _unannounced(self, items: list[_Item]) -> list[Chunk]:
        """Some servers send items only with the last event: all of them, or the calls."""
        if self._done or self._has_content:
            items = self._missing_calls(items)
        return [chunk for item in items for chunk in self._finish_item(item)]

    def _missing_calls(self, items: list[_Item]) -> list[_Item]:
        calls = [item for item in items if item.type == "function_call"]
        if len(calls) <= len(self._call_ids):
            return []  # whatever their ids are now: gateways give an item another one in every event
        return [call for call in calls if call.call_id not in self._call_ids]

    def _finish_item(self, item: _Item) -> list[Chunk]:
        whole = encode_json(item)
        if whole in self._done:
            return []
        self._done.add(whole)
        match item.type:
            case "reasoning":
                return self._finish_thought(item)
            case "message":
                return self._finish_message(item)
            case "function_call":
                self._open_calls -= 1
                self._call_ids.append(item.call_id)
                self._has_content = True
                return self._queue.put_call(
                    item.name or "", _arguments(item), item.call_id, is_whole=item.status != "incomplete"
                )
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
        pieces = enumerate(_as_pieces(item.summary) or item.pieces)
        return [chunk for n, piece in pieces for chunk in self._think(self._subjects.feed(piece.text or "", n))]

    def _finish_message(self, item: _Item) -> list[Chunk]:
        chunks: list[Chunk] = []
        newest, self._newest_text = "".join(self._newest_text), []
        whole = "".join(piece.text or piece.refusal or "" for piece in item.pieces)
        if item.id not in self._streamed and newest != whole:
            for piece in item.pieces:
                self._refused = self._refused or bool(piece.refusal)
                chunks += self._say(item.id, piece.text or piece.refusal)
            self._newest_text = []
        if item.phase:
            chunks += self._queue.put(TextChunk("", msgspec.json.encode(Phase(item.phase)).decode()))
        return chunks

    # --- the end ---

    def _stop(self, response: _Response, *, is_incomplete: bool) -> list[Chunk]:
        self._usage = _count(response.usage or _Usage())
        reason = (response.incomplete_details or _Incomplete()).reason or ("incomplete" if is_incomplete else "")
        limited = reason == "max_output_tokens" or self._reached_limit(response.usage)
        chunks = self._queue.settle(limited=limited)
        if self._open_calls > 0 and not reason:
            raise BrokenStream(f"{self._model} began a call and did not finish it")
        self._finish, self._said = self._finish_reason(reason, limited), reason
        return self._think(self._subjects.end()) + chunks

    def _reached_limit(self, usage: _Usage | None) -> bool:
        """llama.cpp reports a reply as completed even if the limit cut it."""
        return usage is not None and self._limit is not None and count(usage.output_tokens) >= self._limit

    def _finish_reason(self, reason: str, limited: bool) -> FinishReason:
        if limited:
            return "max_tokens"
        if reason == "content_filter" or self._refused:
            return "safety"
        return "other" if reason else "stop"


def _has_failed(response: _Response | None) -> bool:
    return response is not None and (response.status == "failed" or response.error is not None)


def _arguments(item: _Item) -> str:
    given = item.arguments or ("{}" if item.arguments == [] else "")
    return given if isinstance(given, str) else encode_json(given).decode()


def _count(usage: _Usage) -> Usage:
    given, made = count(usage.input_tokens), count(usage.output_tokens)
    of_input = usage.input_tokens_details or _InputDetails()
    of_output = usage.output_tokens_details or _OutputDetails()
    thoughts = min(made, count(of_output.reasoning_tokens))
    cached = min(given, count(of_input.cached_tokens))
    written = min(given - cached, count(of_input.cache_write_tokens))
    return Usage(input=given, output=made - thoughts, thoughts=thoughts, cached=cached, cache_written=written)
