"""The output of a call, in pieces: from the file with the full output if there is one, or what the session keeps.

Positions are bytes of UTF-8, so that any of them is found at once however long the output is; a piece never splits a
character. Only the piece is read.
"""

import asyncio
import codecs
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from assent.app.call_states import Executing, Terminal, ToolCall
from assent.app.output_folders import forget_outputs, saved_output, shared_output
from assent.events import CallFinished, CallOutput, Envelope
from assent.front.web.api_types import Output
from assent.front.web.problems import Problem
from assent.parts import DiffDisplay, TodosDisplay

if TYPE_CHECKING:
    from assent.blob_store import BlobStore


class CallOutputs:
    def __init__(self, env: Mapping[str, str], store: "BlobStore | None" = None) -> None:
        """`store`: where workers keep outputs, if sessions run on them."""
        self._env, self._store = env, store
        self._heard: dict[tuple[str, str], int] = {}
        """How many bytes each running call has printed so far; the session itself keeps only the newest part."""

    def on_event(self, envelope: Envelope) -> None:
        match envelope.event:
            case CallOutput(call_id=call_id, text=text):
                place = (envelope.session, call_id)
                self._heard[place] = self._heard.get(place, 0) + len(_bytes(text))
            case CallFinished(call_id=call_id):
                self._heard.pop((envelope.session, call_id), None)
            case _:
                pass

    async def piece(self, session: str, call: ToolCall, offset: int, limit: int) -> Output:
        match call:
            case Executing():
                return self._live(session, call, offset, limit)
            case _ if isinstance(call, Terminal):
                saved = await self._found(session, call.request.call_id, offset, limit)
                return saved or _cut(_bytes(_text(call)), 0, offset, limit, done=True)
            case _:
                return Output(text="", offset=0, next=0, total=0, done=False)

    def _live(self, session: str, call: Executing, offset: int, limit: int) -> Output:
        data = _bytes(call.output)
        dropped = max(0, self._heard.get((session, call.request.call_id), 0) - len(data))
        return _cut(data, dropped, offset, limit, done=False)

    def _saved(self, session: str, call_id: str, offset: int, limit: int) -> Output | None:
        found = saved_output(self._env, session, call_id, offset, limit)
        if found is None:
            return None
        return _output(found.data, min(offset, found.total), found.total, done=True, saved=True)

    async def _found(self, session: str, call_id: str, offset: int, limit: int) -> Output | None:
        saved = await asyncio.to_thread(self._saved, session, call_id, offset, limit)
        if saved is not None or self._store is None:
            return saved
        try:
            found = await shared_output(self._store, session, call_id, offset, limit)
        except OSError as error:
            raise Problem("unavailable", f"the output cannot be read now: {error}") from error
        if found is None:
            return None
        return _output(found.data, min(offset, found.total), found.total, done=True, saved=True)

    async def forget(self, session: str) -> None:
        self._heard = {place: said for place, said in self._heard.items() if place[0] != session}
        await forget_outputs(self._env, session, self._store)


def _cut(data: bytes, dropped: int, offset: int, limit: int, *, done: bool) -> Output:
    """`dropped` bytes came before these and were not kept."""
    total = dropped + len(data)
    begin = min(max(offset, dropped), total)
    return _output(data[begin - dropped : begin - dropped + limit], begin, total, done=done)


def _output(data: bytes, begin: int, total: int, *, done: bool, saved: bool = False) -> Output:
    """A piece that starts or ends inside a character is shortened."""
    while data and data[0] & 0xC0 == 0x80:
        data, begin = data[1:], begin + 1
    text, used = codecs.utf_8_decode(data, "replace", begin + len(data) >= total)
    return Output(text=text, offset=begin, next=begin + used, total=total, done=done, saved=saved)


def _text(call: Terminal) -> str:
    match call.display:
        case None:
            return msgspec.json.encode(call.result.response).decode()
        case DiffDisplay(diff=diff):
            return diff
        case TodosDisplay(todos=todos):
            return "\n".join(f"[{todo.status}] {todo.description}" for todo in todos)
        case display:
            return display.text


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")
