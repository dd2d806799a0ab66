"""Calls whose arguments arrive as JSON text in a stream: complete calls pass at once, others wait for the end.

Only the end of a reply shows whether a call without arguments takes none or has lost them, and whether a call with half
its arguments was cut by the output limit or by an error. Until then the call waits, and everything after it waits too,
because the order is part of what the model said. Pure.
"""

from typing import Any, cast

import msgspec
from msgspec import Struct

from assent.models.model_protocol import BrokenStream, CallChunk, Chunk
from assent.models.wire_ids import own_id
from assent.parts import JsonObject


class _Doubtful(Struct, frozen=True):
    name: str
    arguments: str
    call_id: str | None


class ChunkQueue:
    """Each method returns the chunks that can be passed on now."""

    def __init__(self, model: str, used_ids: set[str]) -> None:
        """`used_ids` are the ids of earlier calls."""
        self._model = model
        self._used_ids = used_ids
        self._waiting: list[Chunk | _Doubtful] = []

    def put(self, chunk: Chunk) -> list[Chunk]:
        if not self._waiting:
            return [chunk]
        self._waiting.append(chunk)
        return []

    def put_call(self, name: str, arguments: str, call_id: str | None, *, is_whole: bool = True) -> list[Chunk]:
        """`is_whole`: as far as the provider says."""
        if not name:
            raise BrokenStream(f"{self._model} made a tool call without a name")
        args = parse_object(arguments) if is_whole else None
        if args is not None:
            return self.put(self._call(name, args, call_id))
        self._waiting.append(_Doubtful(name, arguments, call_id))
        return []

    def settle(self, *, limited: bool) -> list[Chunk]:
        """The reply has ended; `limited`: at the output limit. Raises BrokenStream for an incomplete call."""
        waiting, self._waiting = self._waiting, []
        chunks = [self._judge(item, limited) if isinstance(item, _Doubtful) else item for item in waiting]
        return [chunk for chunk in chunks if chunk is not None]

    def _judge(self, call: _Doubtful, limited: bool) -> CallChunk | None:
        if limited:
            return None
        args = {} if not call.arguments.strip() else parse_object(call.arguments)
        if args is None:
            raise BrokenStream(f"{self._model} sent an incomplete call of {call.name}")
        return self._call(call.name, args, call.call_id)

    def _call(self, name: str, args: JsonObject, call_id: str | None) -> CallChunk:
        return CallChunk(name, args, own_id(call_id, self._used_ids))


def parse_object(text: str) -> JsonObject | None:
    try:
        found: Any = msgspec.json.decode(text)
        if isinstance(found, str):  # some models write their JSON as a string of JSON
            found = msgspec.json.decode(found)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return cast(JsonObject, found) if isinstance(found, dict) else None
