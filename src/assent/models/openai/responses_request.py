"""A `Request` as the body of OpenAI's Responses API. Pure: data in, bytes out.

The provider stores nothing: every request carries the whole conversation, with the thoughts as encrypted items in their
places. A conversation is a flat list of items; the results of calls are separate items.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from assent.models.foreign_messages import by_model_or_unsigned
from assent.models.model_protocol import Request
from assent.models.openai.openai_reasoning import reasoning_fields
from assent.models.result_text import left_out, result_text
from assent.models.tool_schemas import tool_parameters
from assent.models.wire_ids import wire_id
from assent.models.wire_json import encode_json
from assent.parts import Call, Declaration, JsonObject, Media, ModelMessage, ModelPart, Result, Text, Thought, UserPart


class Phase(Struct, frozen=True):
    """What is kept as the signature of a text: whether it is commentary or the final answer."""

    phase: str


def encode_responses(request: Request, model: str, full_name: str) -> bytes:
    """`full_name` is the name recorded with the model's replies."""
    body: JsonObject = {"model": model, "stream": True, "store": False}
    if request.system:
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if request.conversation:
        body["prompt_cache_key"] = request.conversation
    body |= reasoning_fields(model, request.effort)
    body["input"] = list(_items(request, full_name))
    return encode_json(body)


def _tool(tool: Declaration) -> JsonObject:
    """Not strict: Assent checks the arguments itself, and strict schemas support too little."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool_parameters(tool.schema),
        "strict": False,
    }


def _items(request: Request, full_name: str) -> Iterator[JsonObject]:
    for message in by_model_or_unsigned(request.messages, full_name):
        if isinstance(message, ModelMessage):
            yield from _model_items(message.parts)
        else:
            yield from _user_items(message.parts)


def _model_items(parts: Sequence[ModelPart]) -> Iterator[JsonObject]:
    """Consecutive texts, up to one that has a phase, are one message."""
    texts: list[str] = []
    for part in parts:
        match part:
            case Text(text, str(signature)):
                yield from _said([*texts, text], _phase(signature))
                texts = []
            case Text(text):
                texts.append(text)
            case _:
                yield from _said(texts)
                texts = []
                yield from _thought_or_call(part)
    yield from _said(texts)


def _thought_or_call(part: Thought | Call) -> Iterator[JsonObject]:
    match part:
        case Thought(signature=str(encrypted)) if encrypted:
            yield {"type": "reasoning", "summary": [], "encrypted_content": encrypted}
        case Call(call_id, name, args):
            arguments = encode_json(args).decode()
            yield {"type": "function_call", "call_id": wire_id(call_id), "name": name, "arguments": arguments}
        case _:
            pass


def _said(texts: Sequence[str], phase: str = "") -> Iterator[JsonObject]:
    if text := "".join(texts):
        message: JsonObject = {"type": "message", "role": "assistant", "content": text}
        yield message | {"phase": phase} if phase else message


def _phase(signature: str) -> str:
    try:
        return msgspec.json.decode(signature, type=Phase).phase
    except msgspec.MsgspecError:
        return ""


def _user_items(parts: Sequence[UserPart]) -> Iterator[JsonObject]:
    """Results first: they belong to the calls right before them."""
    for part in parts:
        if isinstance(part, Result):
            yield {"type": "function_call_output", "call_id": wire_id(part.call_id), "output": _output(part)}
    content = [_content(part) for part in parts if not isinstance(part, Result) and part != Text("")]
    if content:
        yield {"type": "message", "role": "user", "content": content}


def _output(result: Result) -> str | list[JsonObject]:
    text = result_text(result)
    if not result.media:
        return text
    return [_content(part) for part in (Text(text), *result.media) if part != Text("")]


def _content(part: Text | Media) -> JsonObject:
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Media(mime, data) if mime.startswith("image/"):
            return {"type": "input_image", "image_url": f"data:{mime};base64,{data}", "detail": "auto"}
        case Media("application/pdf" as mime, data):
            return {"type": "input_file", "filename": "file.pdf", "file_data": f"data:{mime};base64,{data}"}
        case Media():
            return {"type": "input_text", "text": left_out(part)}
