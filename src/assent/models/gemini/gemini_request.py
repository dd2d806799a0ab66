"""A `Request` as the body of Gemini's `generateContent`. Pure: data in, bytes out."""

from typing import Any

from assent.models.bold_subject import join_subject
from assent.models.foreign_messages import own_or_unsigned
from assent.models.gemini.gemini_schemas import gemini_parameters
from assent.models.gemini.gemini_thinking import FIRST_WITH_LEVELS, thinking_config, version_of
from assent.models.model_protocol import Request
from assent.models.wire_json import encode_json
from assent.parts import Call, Declaration, JsonObject, Media, Message, ModelMessage, Result, Text, Thought

NO_SIGNATURE = "skip_thought_signature_validator"
"""What Gemini 3 accepts instead of a signature for a call that another model made before a switch."""


def encode_request(request: Request, model: str, provider: str = "gemini") -> bytes:
    """`provider` is the one whose signatures may be sent."""
    body: JsonObject = {"contents": _contents(own_or_unsigned(request.messages, provider), model)}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in request.tools]}]
    if settings := _settings(request, model):
        body["generationConfig"] = settings
    return encode_json(body)


def _settings(request: Request, model: str) -> JsonObject:
    settings: JsonObject = {}
    if (thinking := thinking_config(model, request.effort)) is not None:
        settings["thinkingConfig"] = thinking
    if request.max_tokens is not None:
        settings["maxOutputTokens"] = request.max_tokens
    return settings


def _declaration(tool: Declaration) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": gemini_parameters(tool.schema)}


def _contents(messages: tuple[Message, ...], model: str) -> list[JsonObject]:
    """Gemini rejects a content without parts, so a message with none is left out."""
    contents: list[JsonObject] = []
    for message in messages:
        parts = [wire for part in message.parts for wire in _parts(part)]
        if isinstance(message, ModelMessage) and _wants_signatures(model):
            _sign_first_call(parts)
        if parts:
            contents.append({"role": "model" if isinstance(message, ModelMessage) else "user", "parts": parts})
    return contents


def _parts(part: Text | Thought | Call | Result | Media) -> list[JsonObject]:
    match part:
        case Text("", None):
            return []
        case Text(text, signature):
            return [_signed({"text": text}, signature)]
        case Thought(_, None):  # only a summary for people; the model needs only its signature back
            return []
        case Thought(text, signature, subject):
            return [_signed({"text": join_subject(subject, text), "thought": True}, signature)]
        case Call(call_id, name, args, signature):
            return [_signed({"functionCall": {"id": call_id, "name": name, "args": args}}, signature)]
        case Result(call_id, name, response, media):
            answer = {"functionResponse": {"id": call_id, "name": name, "response": response}}
            return [answer, *(_inline(item) for item in media)]
        case Media():
            return [_inline(part)]


def _inline(media: Media) -> JsonObject:
    return {"inlineData": {"mimeType": media.mime, "data": media.data}}


def _signed(part: JsonObject, signature: str | None) -> JsonObject:
    if signature is not None:
        part["thoughtSignature"] = signature
    return part


def _wants_signatures(model: str) -> bool:
    """From version 3 on."""
    version = version_of(model)
    return version is not None and version >= FIRST_WITH_LEVELS


def _sign_first_call(parts: list[dict[str, Any]]) -> None:
    """Gemini 3 rejects a step whose first call has no signature."""
    for part in parts:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", NO_SIGNATURE)
            return
