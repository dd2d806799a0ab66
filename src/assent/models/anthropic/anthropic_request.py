"""A `Request` as the body of Anthropic's Messages API. Pure: data in, bytes out.

The API is strict about turns: user and model alternate, the results of all calls come first in the next user message,
and calls come last in a model message. No text may be empty.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from assent.models.anthropic.anthropic_signature import pasts, thinking_block
from assent.models.anthropic.anthropic_thinking import takes_budget, thinking_fields
from assent.models.foreign_messages import by_model_or_unsigned
from assent.models.model_protocol import Request
from assent.models.result_text import is_error, left_out, result_text
from assent.models.tool_schemas import tool_parameters
from assent.models.wire_ids import wire_id
from assent.models.wire_json import encode_json
from assent.parts import Call, Declaration, JsonObject, Media, ModelMessage, ModelPart, Result, Text, Thought, UserPart

CACHED: JsonObject = {"type": "ephemeral"}
"""Marks the end of what the provider should cache for the next request. A request may have four marks."""
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def encode_messages(request: Request, model: str, full_name: str, max_tokens: int) -> bytes:
    """`full_name` is the name recorded with the model's replies; `max_tokens` limits the reply."""
    messages = _messages(request, full_name)
    body: JsonObject = {"model": model, "max_tokens": max_tokens, "stream": True}
    if request.tools:
        body["tools"] = _marked([_tool(tool) for tool in request.tools])
    if request.system.strip():
        body["system"] = _marked([{"type": "text", "text": request.system}])
    body["messages"] = messages
    _mark_conversation(messages)
    if not (takes_budget(model) and _continues_without_thoughts(messages)):
        body |= thinking_fields(model, request.effort, max_tokens)
    return encode_json(body)


def _tool(tool: Declaration) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "input_schema": tool_parameters(tool.schema)}


# --- messages ---


def _messages(request: Request, full_name: str) -> list[JsonObject]:
    """Consecutive messages with the same role become one."""
    messages: list[JsonObject] = []
    for role, group in groupby(_turns(request, full_name), key=lambda turn: turn[0]):
        blocks = [block for _, turn in group for block in turn]
        messages.append({"role": role, "content": _results_first(blocks) if role == "user" else _calls_last(blocks)})
    return messages


def _turns(request: Request, full_name: str) -> Iterator[tuple[str, list[JsonObject]]]:
    for message, past in zip(by_model_or_unsigned(request.messages, full_name), pasts(request), strict=False):
        if isinstance(message, ModelMessage):
            role, blocks = "assistant", _present(_model_block(part, past) for part in message.parts)
        else:
            role, blocks = "user", _present(map(_user_block, message.parts))
        if blocks:
            yield role, blocks


def _results_first(blocks: list[JsonObject]) -> list[JsonObject]:
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _calls_last(blocks: list[JsonObject]) -> list[JsonObject]:
    """Text after a call moves before the first call. Thoughts stay where they are: they are bound to their position."""
    first = next((place for place, block in enumerate(blocks) if block["type"] == "tool_use"), len(blocks))
    late = [block for block in blocks[first:] if block["type"] == "text"]
    return [*blocks[:first], *late, *(block for block in blocks[first:] if block["type"] != "text")]


def _model_block(part: ModelPart, past: str) -> JsonObject | None:
    match part:
        case Text(text):
            return _text(text)
        case Thought():
            return thinking_block(part, past)
        case Call(call_id, name, args):
            return {"type": "tool_use", "id": wire_id(call_id), "name": name, "input": args}


def _user_block(part: UserPart) -> JsonObject | None:
    match part:
        case Text(text):
            return _text(text)
        case Media():
            return _media(part)
        case Result():
            return _result(part)


def _result(result: Result) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": wire_id(result.call_id)}
    content = _present([_text(_said(result)), *map(_media, result.media)])
    if content:
        block["content"] = content
    if is_error(result):
        block["is_error"] = True
    return block


def _said(result: Result) -> str:
    """An error is marked as one, so its text needs no wrapping."""
    match result.response:
        case {"error": str(error), **rest} if not rest:
            return error
        case _:
            return result_text(result)


def _text(text: str) -> JsonObject | None:
    return {"type": "text", "text": text} if text.strip() else None


def _media(media: Media) -> JsonObject:
    source = {"type": "base64", "media_type": media.mime, "data": media.data}
    if media.mime in _IMAGES:
        return {"type": "image", "source": source}
    if media.mime == "application/pdf":
        return {"type": "document", "source": source}
    return {"type": "text", "text": left_out(media)}


def _present(blocks: Iterable[JsonObject | None]) -> list[JsonObject]:
    return [block for block in blocks if block is not None]


# --- caching, and what else depends on the whole conversation ---


def _mark_conversation(messages: list[JsonObject]) -> None:
    """Mark the newest two user messages. The provider looks back only twenty blocks from a mark; if the mark of the
    previous request stays in place, the provider finds its cache even after a turn with many calls.
    """
    users = [message for message in messages if message["role"] == "user"]
    for message in users[-2:]:
        _marked(message["content"])


def _marked(blocks: list[JsonObject]) -> list[JsonObject]:
    blocks[-1]["cache_control"] = CACHED
    return blocks


def _continues_without_thoughts(messages: list[JsonObject]) -> bool:
    """Whether the current turn began without thoughts that can be sent: another model began it, or the conversation
    was compressed since. Models with a thinking budget refuse to think then.
    """
    beginning = next((place for place in reversed(range(len(messages))) if _is_prompt(messages[place])), -1)
    first_reply = messages[beginning + 1 : beginning + 2]
    return any(reply["content"][0]["type"] not in ("thinking", "redacted_thinking") for reply in first_reply)


def _is_prompt(message: JsonObject) -> bool:
    return message["role"] == "user" and all(block["type"] != "tool_result" for block in message["content"])
