"""Estimates token counts offline: four Latin letters are about one token, other scripts need more."""

import msgspec

from assent.models.model_protocol import Request
from assent.parts import Call, Media, Message, ModelPart, Result, Text, Thought, UserPart

_IMAGE = 3_000
_DOCUMENT = 25_800


def of_text(text: str) -> int:
    if text.isascii():
        return len(text) // 4 + 1
    more_bytes = len(text.encode(errors="replace")) - len(text)
    return int(len(text) * 0.25 + more_bytes * 0.625) + 1


def of_part(part: ModelPart | UserPart) -> int:
    match part:
        case Text(text=text) | Thought(text=text):
            return of_text(text)
        case Call(args=args):
            return of_text(msgspec.json.encode(args).decode())
        case Result():
            return of_result(part)
        case Media(mime=mime):
            return _IMAGE if mime.startswith("image/") else _DOCUMENT


def of_result(result: Result) -> int:
    media = sum(of_part(part) for part in result.media)
    return media + of_text(msgspec.json.encode(result.response).decode())


def of_request(request: Request) -> int:
    """Without its tools."""
    return of_text(request.system) + sum(map(of_message, request.messages))


def of_message(message: Message) -> int:
    return sum(map(of_part, message.parts))
