"""Prompts, replies and results in the JSON shape of the conventions. Used only where content may be exported."""

from collections.abc import Sequence
from typing import Any

import msgspec

from assent.parts import Call, FinishReason, ModelPart, Text, Thought
from assent.secrets.mask import Masker

Message = dict[str, Any]
MAX_TEXT = 32_000
"""Characters of one prompt, reply, argument list or result."""
_FINISH = {"max_tokens": "length", "too_long": "length", "safety": "content_filter"}


def finish_reason(finish: FinishReason, parts: Sequence[ModelPart]) -> str:
    if finish == "stop" and any(isinstance(part, Call) for part in parts):
        return "tool_call"
    return _FINISH.get(finish, finish)


class ContentWriter:
    """Masks secrets, and shortens what is too long."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker

    def json(self, value: object) -> str:
        return self._short(msgspec.json.encode(self._masker.data(value)).decode())

    def messages(self, messages: Sequence[Message]) -> str:
        return msgspec.json.encode(messages).decode()

    def prompt(self, text: str) -> Message:
        return {"role": "user", "parts": [{"type": "text", "content": self._text(text)}]}

    def result(self, call_id: str, response: object) -> Message:
        return {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": call_id, "response": self.json(response)}],
        }

    def reply(self, parts: Sequence[ModelPart], finish: FinishReason) -> Message:
        said = [self._part(part) for part in parts]
        return {"role": "assistant", "parts": said, "finish_reason": finish_reason(finish, parts)}

    def _part(self, part: ModelPart) -> dict[str, Any]:
        match part:
            case Text(text=text):
                return {"type": "text", "content": self._text(text)}
            case Thought(text=text):
                return {"type": "reasoning", "content": self._text(text)}
            case Call(call_id=call_id, name=name, args=args):
                return {"type": "tool_call", "id": call_id, "name": name, "arguments": self.json(args)}

    def _text(self, text: str) -> str:
        return self._short(self._masker.text(text))

    def _short(self, text: str) -> str:
        return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"
