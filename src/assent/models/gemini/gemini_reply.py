"""Gemini's streamed reply: JSON events in, chunks out, and a verdict at the end. Pure; it knows no network.

Unknown fields are ignored; an event of the wrong shape breaks the whole reply. `Finished` comes only when the stream
has ended with a finish reason: nothing of an incomplete reply is used.
"""

from typing import Any

import msgspec
from msgspec import Struct

from assent.models.bold_subject import split_subject
from assent.models.finish_words import finish_reason, later_word
from assent.models.gemini.gemini_failures import failure_in_stream
from assent.models.gemini.snake_case import in_camel_case
from assent.models.model_protocol import BrokenStream, CallChunk, Chunk, Finished, TextChunk, ThoughtChunk, Withheld
from assent.models.streamed_calls import parse_object
from assent.models.wire_ids import own_id
from assent.models.wire_json import DONE, Count, count, decode_event
from assent.parts import FinishReason, JsonObject, Usage


class _Call(Struct, rename="camel", gc=False):
    name: str = ""
    args: JsonObject | str | list[Any] | None = None
    """A string is JSON, and an empty list an empty object, from gateways that translate."""
    id: str | int | None = None
    will_continue: bool = False


class _Part(Struct, rename="camel", gc=False):
    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(Struct, rename="camel", gc=False):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: Count = None
    tool_use_prompt_token_count: Count = None
    candidates_token_count: Count = None
    thoughts_token_count: Count = None
    cached_content_token_count: Count = None


class _Event(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Event, strict=False).decode

BLOCKED = frozenset({
    "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
})  # fmt: skip
_NOT_BLOCKED = (None, "", "BLOCK_REASON_UNSPECIFIED")
MALFORMED = frozenset({
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE",
})  # fmt: skip


class GeminiReply:
    """Reads one reply. `chunks` for each event, then `end` once the stream has ended."""

    def __init__(self, model: str, used_ids: set[str], advice: str = "") -> None:
        """`used_ids` are the ids of earlier calls. `advice` says what to do about a rejected key."""
        self._model = model
        self._used_ids = used_ids
        self._advice = advice
        self._finish: str | None = None
        self._message = ""
        self._usage = Usage()
        self._has_content = False
        self._calls: list[_Call] = []

    @property
    def ended(self) -> bool:
        """This format has no end marker."""
        return False

    def chunks(self, data: bytes) -> list[Chunk]:
        if not data or data.strip() == DONE:
            return []
        event = decode_event(_decode, in_camel_case(data), self._model)
        if event.error is not None:
            raise failure_in_stream(data, self._model, self._advice)
        self._note(event)
        return self._content(event.candidates[0]) if event.candidates else []

    def end(self, *, cut: bool) -> tuple[Finished]:
        if cut or self._finish is None:
            raise BrokenStream(f"the reply from {self._model} ended before it was complete")
        if self._finish in BLOCKED and not self._has_content:
            raise Withheld(f"{self._model} withheld its reply ({self._finish}). {self._message}".rstrip())
        return (Finished(_finish_reason(self._finish), self._usage, self._said()),)

    def _said(self) -> str:
        if self._finish in ("STOP", "MAX_TOKENS"):
            return self._message
        return f"{self._finish}: {self._message}" if self._message else str(self._finish)

    def _note(self, event: _Event) -> None:
        if (usage := event.usage_metadata) is not None:
            given = count(usage.prompt_token_count) + count(usage.tool_use_prompt_token_count)
            self._usage = Usage(
                input=given,
                output=count(usage.candidates_token_count),
                thoughts=count(usage.thoughts_token_count),
                cached=min(given, count(usage.cached_content_token_count)),
            )
        if (feedback := event.prompt_feedback) is not None and feedback.block_reason not in _NOT_BLOCKED:
            said = feedback.block_reason_message or ""
            raise Withheld(f"{self._model} rejected this prompt ({feedback.block_reason}). {said}".rstrip())

    def _content(self, candidate: _Candidate) -> list[Chunk]:
        if candidate.finish_reason:
            self._note_finish(candidate.finish_reason.upper(), candidate.finish_message or "")
        parts = candidate.content.parts if candidate.content is not None else None
        return [chunk for part in parts or () if (chunk := self._chunk(part)) is not None]

    def _note_finish(self, reason: str, message: str) -> None:
        if reason in MALFORMED:
            raise BrokenStream(f"{self._model} made a malformed tool call ({reason}). {message}".rstrip())
        if later_word(self._finish or "", reason) == reason:
            self._finish, self._message = reason, message

    def _chunk(self, part: _Part) -> Chunk | None:
        """Parts that were not requested (code execution, images) are ignored."""
        if part.function_call is not None:
            return self._call(part.function_call, part.thought_signature)
        text = part.text or ""
        if not text and part.thought_signature is None:
            return None
        if part.thought:
            subject, description = split_subject(text)
            return ThoughtChunk(description, part.thought_signature, subject)
        self._has_content = self._has_content or bool(text)
        return TextChunk(text, part.thought_signature)

    def _call(self, call: _Call, signature: str | None) -> CallChunk | None:
        if call.id and call in self._calls:
            return None  # a gateway has sent it twice
        self._calls.append(call)
        if not call.name:
            raise BrokenStream(f"{self._model} made a tool call without a name")
        if call.will_continue:
            raise BrokenStream(f"{self._model} sent an incomplete call of {call.name}")
        args = parse_object(call.args) if isinstance(call.args, str) and call.args.strip() else call.args or {}
        if not isinstance(args, dict):
            raise BrokenStream(f"{self._model} sent an incomplete call of {call.name}")
        self._has_content = True
        return CallChunk(call.name, args, own_id(str(call.id or ""), self._used_ids), signature)


def _finish_reason(reason: str) -> FinishReason:
    match reason:
        case "STOP":
            return "stop"
        case "MAX_TOKENS" | "CONTINUATION":
            return "max_tokens"
        case _:
            return "safety" if reason in BLOCKED else finish_reason(reason)
