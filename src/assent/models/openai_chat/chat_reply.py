"""A streamed chat completion: JSON events in, chunks out, and a verdict at the end. Pure; it knows no network.

Unknown fields are ignored; an event of the wrong shape breaks the whole reply. Calls and `Finished` come only when the
stream has ended and was complete: nothing of an incomplete reply is used.
"""

from collections.abc import Callable, Collection
from typing import Any, Literal

import msgspec
from msgspec import Struct

from assent.models.finish_words import finish_reason, later_word
from assent.models.model_protocol import (
    BrokenStream,
    CallChunk,
    Chunk,
    Finished,
    ModelError,
    TextChunk,
    ThoughtChunk,
    Withheld,
)
from assent.models.openai_chat.chat_calls import CallCollector, CallFragment, FunctionFragment
from assent.models.openai_chat.chat_reasoning import ReasoningDetails, thought_text
from assent.models.openai_chat.chat_think_tags import ThinkTags
from assent.models.openai_chat.chat_usage import ChatUsage, read_usage
from assent.models.openai_chat.chat_written_calls import WrittenCalls
from assent.models.wire_json import DONE, decode_event, encode_json
from assent.parts import FinishReason, JsonObject, Usage

FAILED = frozenset({"error", "insufficient_system_resource", "network_error"})
UNFINISHED = frozenset({"null", "none"})
"""As words: DashScope's way to say nothing."""


class _Item(Struct, gc=False):
    """A piece of a content that is a list, as Mistral sends it."""

    type: str = "text"
    text: str | None = None
    thinking: "str | list[_Item] | None" = None


class _Delta(Struct, gc=False, kw_only=True):
    content: str | list[_Item | str] | _Item | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: list[JsonObject] | None = None
    refusal: str | None = None
    tool_calls: list[CallFragment] | CallFragment | None = None
    """A single one from older versions of TGI."""
    function_call: FunctionFragment | None = None


class _Choice(Struct, gc=False):
    delta: _Delta | None = None
    message: _Delta | None = None
    """The same, for a reply in one piece."""
    finish_reason: str | None = None
    usage: ChatUsage | None = None
    error: Any = None


class _Extras(Struct):
    """Groq's own field."""

    usage: ChatUsage | None = None


class _Event(Struct, kw_only=True):
    choices: list[_Choice] | None = None
    usage: ChatUsage | None = None
    x_groq: _Extras | None = None
    error: Any = None
    object: str | None = None
    message: Any = None
    detail: Any = None
    """Like `message`, from servers made with FastAPI."""


_decode = msgspec.json.Decoder(_Event, strict=False).decode

_ThoughtField = Literal["reasoning_content", "reasoning", "reasoning_details"]
_THOUGHT_FIELDS: tuple[_ThoughtField, ...] = ("reasoning_content", "reasoning", "reasoning_details")


class ChatReply:
    """Reads one reply. `chunks` for each event, then `end` once the stream has ended."""

    def __init__(
        self,
        model: str,
        failure: Callable[[bytes], ModelError],
        offered: Collection[str] = (),
        used_ids: Collection[str] = (),
        *,
        keeps_details: bool = False,
    ) -> None:
        """`failure` reads an event that is an error. `offered`: the tools whose calls may be written as text.
        `keeps_details`: the server needs its `reasoning_details` back.
        """
        self._model, self._failure = model, failure
        self._used_ids = set(used_ids)
        self._keeps_details = keeps_details
        self._tags, self._written = ThinkTags(), WrittenCalls(offered)
        self._calls, self._details = CallCollector(model), ReasoningDetails()
        self._thought_field: _ThoughtField | None = None
        self._usage = Usage()
        self._finish = ""
        self._done = False
        self._refused = False
        self._has_content = False
        self._plain = False
        """Whether the text is past all tags and calls that it could begin with: the rest is passed on as it arrives."""

    @property
    def ended(self) -> bool:
        return self._done

    def chunks(self, data: bytes) -> list[Chunk]:
        if self._done or not data:
            return []
        if data.lstrip().startswith(DONE):
            self._done = True
            return []
        event = self._event(data)
        self._note_usage(event)
        return self._choice(event.choices[0]) if event.choices else []

    def end(self, *, cut: bool) -> list[Chunk]:
        if cut and not self._done:
            raise self._broken("ended in the middle of an event")
        if not (self._finish or self._done):
            raise self._broken("ended before it was complete")
        text, calls = self._rest()
        chunks: list[Chunk] = [TextChunk(text)] if text else []
        if self._keeps_details and (kept := self._details.signature()):
            chunks.append(ThoughtChunk("", kept))
        reason = self._reason()
        if reason == "safety" and not (self._has_content or chunks or calls):
            raise Withheld(f"{self._model} withheld its reply ({self._finish})")
        said = "" if finish_reason(self._finish) in ("stop", "max_tokens") else self._finish
        return [*chunks, *calls, Finished(reason, self._usage, said)]

    def _event(self, data: bytes) -> _Event:
        event = decode_event(_decode, data, self._model)
        if event.error or event.object == "error" or (event.choices is None and (event.message or event.detail)):
            raise self._failure(data)
        if event.choices and event.choices[0].error:
            raise self._failure(encode_json({"error": event.choices[0].error}))
        return event

    def _note_usage(self, event: _Event) -> None:
        """Each counts from the beginning, so the newest is complete; servers put it in one of three places."""
        usage = event.usage or (event.x_groq.usage if event.x_groq else None)
        if usage is None and event.choices:
            usage = event.choices[0].usage
        if usage is not None:
            self._usage = read_usage(usage)

    def _choice(self, choice: _Choice) -> list[Chunk]:
        if choice.finish_reason and choice.finish_reason.lower() not in UNFINISHED:
            self._finish = later_word(self._finish, choice.finish_reason)
            if self._finish in FAILED:
                raise self._broken(f"broke off ({self._finish})")
        delta = choice.delta or choice.message
        return self._delta(delta) if delta is not None else []

    def _delta(self, delta: _Delta) -> list[Chunk]:
        chunks: list[Chunk] = []
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            chunks += self._thought(delta)
        if isinstance(delta.content, str):
            self._text(delta.content, chunks)
        elif delta.content:
            for item in delta.content if isinstance(delta.content, list) else (delta.content,):
                self._item(item if isinstance(item, _Item) else _Item(text=item), chunks)
        if delta.refusal:
            self._refused = True
            self._text(delta.refusal, chunks)
        if delta.tool_calls or delta.function_call:
            self._note_calls(delta)
        return chunks

    def _note_calls(self, delta: _Delta) -> None:
        given = delta.tool_calls or ()
        for fragment in (given,) if isinstance(given, CallFragment) else given:
            self._calls.add(fragment)
        if delta.function_call is not None:
            self._calls.add(CallFragment(0, None, delta.function_call))

    def _text(self, text: str, chunks: list[Chunk]) -> None:
        if not text:
            return
        if self._plain:
            chunks.append(TextChunk(text))
            return
        self._plain = self._tags.in_text and self._written.is_text and self._has_content
        for chunk in self._tags.feed(text):
            self._pass(chunk, chunks)

    def _pass(self, chunk: TextChunk | ThoughtChunk, chunks: list[Chunk]) -> None:
        if isinstance(chunk, ThoughtChunk):
            chunks.append(chunk)
        elif free := self._written.feed(chunk.text):
            self._has_content = True
            chunks.append(TextChunk(free))

    def _item(self, item: _Item, chunks: list[Chunk]) -> None:
        match item.thinking:
            case str(thought) if thought:
                chunks.append(ThoughtChunk(thought))
            case list(pieces):
                chunks += [ThoughtChunk(piece.text) for piece in pieces if piece.text]
            case _ if item.text:
                self._text(item.text, chunks)
            case _:
                pass

    def _thought(self, delta: _Delta) -> list[Chunk]:
        """Servers may send the same thought in more than one field; read the first field that has one."""
        said = self._details.add(delta.reasoning_details) if delta.reasoning_details else ""
        texts = {
            "reasoning_content": thought_text(delta.reasoning_content),
            "reasoning": thought_text(delta.reasoning),
            "reasoning_details": said,
        }
        if self._thought_field is None:
            self._thought_field = next((field for field in _THOUGHT_FIELDS if texts[field]), None)
        text = texts[self._thought_field] if self._thought_field else ""
        return [ThoughtChunk(text)] if text else []

    def _rest(self) -> tuple[str, list[CallChunk]]:
        """What has been held back: the rest of the text, and the calls."""
        chunks: list[Chunk] = []
        for chunk in self._tags.end():
            self._pass(chunk, chunks)
        text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
        held, written = self._written.end()
        limited = finish_reason(self._finish) == "max_tokens"
        calls = self._calls.finish(limited=limited, ended=bool(self._finish), used=self._used_ids)
        if calls or limited or self._has_content:
            written = []
        return text + held, calls or written

    def _reason(self) -> FinishReason:
        reason = finish_reason(self._finish) if self._finish else "stop"
        return "safety" if self._refused else reason

    def _broken(self, what: str) -> BrokenStream:
        return BrokenStream(f"the reply from {self._model} {what}")
