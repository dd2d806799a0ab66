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
    """The arguments, if they are complete; some models write their JSON as a string of JSON."""
    found = _decoded(text)
    if isinstance(found, str):
        found = _decoded(found)
    if found is None:
        found = _said_again(text)
    return cast(JsonObject, found) if isinstance(found, dict) else None


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _said_again(text: str) -> Any:
    """Gateways repeat the arguments, or begin with an empty object for those to come. Different ones are none."""
    objects = [_decoded(one) for one in _objects(text)]
    meant = [one for one in objects if one != {}]
    if len(objects) < 2 or any(one != meant[0] for one in meant):
        return None
    return meant[0] if meant else {}


def _objects(text: str) -> list[str]:
    """The objects that the text consists of; none if it is anything else."""
    import json

    read, found, rest = json.JSONDecoder().raw_decode, list[str](), text.strip()
    try:
        while rest.startswith("{"):
            _, end = read(rest)
            found.append(rest[:end])
            rest = rest[end:].lstrip()
    except (ValueError, RecursionError):
        return []
    return [] if rest else found
