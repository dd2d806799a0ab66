"""Events of a chat completion, and what the reader makes of them: for tests that need no server."""

from typing import Any

import msgspec

from assent.models.model_protocol import Chunk, ModelError
from assent.models.openai_chat.chat_failures import chat_failure_in_stream
from assent.models.openai_chat.chat_reply import ChatReply

Event = dict[str, Any] | str

DONE = "[DONE]"


def delta(finish: str | None = None, **fields: Any) -> Event:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def text(content: str) -> Event:
    return delta(content=content)


def call(index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: Any = None) -> Event:
    """One fragment; whatever is None is left out, as servers do."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields: dict[str, Any] = {"function": function}
    fields |= {} if index is None else {"index": index}
    fields |= {} if call_id is None else {"id": call_id}
    return delta(tool_calls=[fields])


def usage(**fields: Any) -> Event:
    return {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4} | fields}


def reader(offered: tuple[str, ...] = (), used: tuple[str, ...] = (), *, keeps_details: bool = False) -> ChatReply:
    return ChatReply("m", failure, offered, used, keeps_details=keeps_details)


def failure(data: bytes) -> ModelError:
    return chat_failure_in_stream(data, "m", "Get a key.")


def feed(reply: ChatReply, *events: Event) -> list[Chunk]:
    data = (event.encode() if isinstance(event, str) else msgspec.json.encode(event) for event in events)
    return [chunk for item in data for chunk in reply.chunks(item)]


def read(*events: Event, reply: ChatReply | None = None, cut: bool = False) -> list[Chunk]:
    """All chunks of a stream of these events."""
    reply = reply or reader()
    return [*feed(reply, *events), *reply.end(cut=cut)]
