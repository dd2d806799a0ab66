"""A `Request` as the body of a chat completion. Pure: data in, bytes out.

Servers are strict about the order: the results of all calls, one message each, right after the message with the calls
and before anything else. Results are text; their media follow in a user message.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from assent.models.effort_levels import nearest_effort
from assent.models.foreign_messages import by_model_or_unsigned
from assent.models.model_protocol import Effort, Request
from assent.models.openai_chat.chat_ids import WireIds
from assent.models.openai_chat.chat_quirks import Quirks
from assent.models.result_text import left_out as left_out_note
from assent.models.result_text import result_text
from assent.models.tool_schemas import tool_parameters
from assent.models.wire_json import encode_json
from assent.parts import Call, JsonObject, Media, Message, ModelMessage, Result, Text, Thought, UserPart

NO_RESULT = "There is no result: the call did not run."
_GPT = re.compile(r"gpt-(\d+(?:\.\d)?)(?![\w.])")
BRIDGE = "Done."
"""The model message that goes between a tool and the user, for servers that need one."""


def encode_chat(request: Request, model: str, full_name: str, quirks: Quirks, left_out: Iterable[str] = ()) -> bytes:
    """`left_out`: optional fields that the server has rejected."""
    body: JsonObject = {"model": model, "stream": True, "messages": _Conversation(request, full_name, quirks).messages}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": tool_parameters(t.schema)},
            }
            for t in request.tools
        ]
    return encode_json(body | optional_fields(request, model, quirks, frozenset(left_out)))


def optional_fields(request: Request, model: str, quirks: Quirks, left_out: frozenset[str]) -> JsonObject:
    """Fields that a server can do without."""
    fields: JsonObject = {}
    if quirks.asks_usage:
        fields["stream_options"] = {"include_usage": True}
    if request.max_tokens is not None:
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[quirks.limit_field]
        fields[other if quirks.limit_field in left_out else quirks.limit_field] = request.max_tokens
    if quirks.is_openai and request.conversation:
        fields["prompt_cache_key"] = request.conversation
    fields |= _effort(_wanted_effort(request, model, quirks), quirks)
    return {name: value for name, value in fields.items() if name not in left_out}


def _effort(wanted: Effort | None, quirks: Quirks) -> JsonObject:
    if wanted is None or not quirks.efforts:
        return {}
    effort = nearest_effort(wanted, quirks.efforts)
    match quirks.effort_field:
        case "reasoning_effort":
            return {"reasoning_effort": effort}
        case "reasoning":
            return {"reasoning": {"effort": effort}}
        case "thinking":
            return {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}


def _wanted_effort(request: Request, model: str, quirks: Quirks) -> Effort | None:
    """OpenAI's newer models combine thinking and tools only in the Responses API: from 5.4 on they accept no effort
    here, and from 5.6 on they must be told not to think.
    """
    version = _gpt_version(model) if quirks.is_openai and request.tools else 0.0
    if version >= 5.6:
        return "none"
    return None if version >= 5.4 else request.effort


def _gpt_version(model: str) -> float:
    found = _GPT.match(model)
    return float(found.group(1)) if found else 0.0


class _Conversation:
    """The messages in order, and the calls that still need their results."""

    def __init__(self, request: Request, full_name: str, quirks: Quirks) -> None:
        self._quirks = quirks
        self._ids = WireIds(quirks.ids)
        self._waiting: list[tuple[str, str]] = []
        """Call ids and their ids on the wire."""
        self.messages: list[JsonObject] = [{"role": "system", "content": request.system}] if request.system else []
        for is_model, parts in _merged(by_model_or_unsigned(request.messages, full_name)):
            if is_model:
                self._model_speaks(parts)
            else:
                self._user_speaks(parts)
        self._answer([])

    def _model_speaks(self, parts: Sequence[Any]) -> None:
        self._answer([])
        text = "".join(part.text for part in parts if isinstance(part, Text))
        calls = [part for part in parts if isinstance(part, Call)]
        if not text and not calls:
            return
        message: JsonObject = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [self._call(call) for call in calls]
        self.messages.append(message | self._thoughts(parts, has_calls=bool(calls)))

    def _call(self, call: Call) -> JsonObject:
        wire_id = self._ids.take(call.call_id)
        self._waiting.append((call.call_id, wire_id))
        arguments = encode_json(call.args).decode()
        return {"id": wire_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def _thoughts(self, parts: Sequence[Any], has_calls: bool) -> JsonObject:
        thoughts = [part for part in parts if isinstance(part, Thought)]
        match self._quirks.replays:
            case "reasoning_content" if has_calls:
                return {"reasoning_content": "".join(thought.text for thought in thoughts)}
            case "reasoning_details":
                details = [item for thought in thoughts for item in read_details(thought.signature)]
                return {"reasoning_details": details} if details else {}
            case _:
                return {}

    def _user_speaks(self, parts: Sequence[Any]) -> None:
        results = [part for part in parts if isinstance(part, Result)]
        strays = self._answer(results)
        said: list[UserPart] = [Text(f"The result of {stray.name}: {_result_text(stray)}") for stray in strays]
        said += [media for result in results for media in result.media]
        said += [part for part in parts if not isinstance(part, Result)]
        if content := self._content(said):
            self._bridge()
            self.messages.append({"role": "user", "content": content})

    def _answer(self, results: Sequence[Result]) -> list[Result]:
        """One message for each open call, in the order of the calls. Returns the results that belong to none."""
        left = list(results)
        for call_id, wire_id in self._waiting:
            found = next((result for result in left if result.call_id == call_id), None)
            if found is not None:
                left.remove(found)
            text = NO_RESULT if found is None else _result_text(found)
            self.messages.append({"role": "tool", "tool_call_id": wire_id, "content": text})
        self._waiting = []
        return left

    def _bridge(self) -> None:
        if not self._quirks.user_after_tool and self.messages and self.messages[-1]["role"] == "tool":
            self.messages.append({"role": "assistant", "content": BRIDGE})

    def _content(self, parts: Sequence[UserPart]) -> str | list[JsonObject]:
        """A plain string if possible: not every server accepts lists."""
        items = [item for part in parts if (item := self._item(part)) is not None]
        if all(item["type"] == "text" for item in items):
            return "\n\n".join(item["text"] for item in items)
        return items

    def _item(self, part: UserPart) -> JsonObject | None:
        match part:
            case Text(text):
                return {"type": "text", "text": text} if text else None
            case Media(mime, data) if mime.startswith("image/"):
                return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}
            case Media(mime, data) if mime == "application/pdf" and self._quirks.takes_files:
                file = {"filename": "file.pdf", "file_data": f"data:{mime};base64,{data}"}
                return {"type": "file", "file": file}
            case Media():
                return {"type": "text", "text": left_out_note(part)}
            case Result():
                return None


def _merged(messages: Iterable[Message]) -> Iterator[tuple[bool, list[Any]]]:
    """Merge consecutive messages of the same role: some chat templates reject two in a row."""
    for is_model, group in groupby(messages, key=lambda message: isinstance(message, ModelMessage)):
        yield is_model, [part for message in group for part in message.parts]


def _result_text(result: Result) -> str:
    """Never empty: servers reject that."""
    return result_text(result) or encode_json(result.response).decode()


def read_details(signature: str | None) -> list[JsonObject]:
    """The `reasoning_details` that were kept as a signature."""
    try:
        return msgspec.json.decode(signature, type=list[JsonObject]) if signature else []
    except msgspec.MsgspecError:  # not one of ours
        return []
