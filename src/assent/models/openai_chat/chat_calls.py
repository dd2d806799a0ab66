"""Assembles calls from the fragments of a stream. Pure.

A fragment's `index` says which call it continues. Some servers leave the index out, or give all calls the same one;
then a new id, or a name after a complete call, begins another. Nothing is a call before `finish`.
"""

from typing import Any

from msgspec import Struct

from assent.models.model_protocol import BrokenStream, CallChunk
from assent.models.streamed_calls import parse_object
from assent.models.wire_ids import own_id
from assent.models.wire_json import encode_json
from assent.parts import JsonObject


class FunctionFragment(Struct, gc=False):
    name: str | None = None
    arguments: str | JsonObject | list[Any] | None = None
    """Pieces of JSON text; a few servers send the object itself, and some write an empty object as an empty list."""


class CallFragment(Struct, gc=False):
    index: int | None = None
    id: str | int | None = None
    function: FunctionFragment | None = None


class _Pending:
    def __init__(self, index: int | None, call_id: str | None) -> None:
        self.index, self.call_id = index, call_id
        self.name = ""
        self.pieces: list[str] = []
        self.given: JsonObject | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def takes_more_name(self, index: int | None) -> bool:
        """A name may also come in pieces, but only before the arguments, and only if the call is numbered."""
        return index is not None and not self.pieces and self.given is None

    @property
    def is_whole(self) -> bool:
        return self.given is not None or parse_object(self.text) is not None


class CallCollector:
    """`add` the fragments as they arrive, then `finish`."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._calls: list[_Pending] = []

    @property
    def is_empty(self) -> bool:
        return not self._calls

    def add(self, fragment: CallFragment) -> None:
        function = fragment.function or FunctionFragment()
        call_id, name = str(fragment.id or "") or None, (function.name or "").strip()
        if not (call_id or name) and function.arguments is None:
            return
        call = self._belongs_to(fragment, call_id, name, function)
        if call is None:
            call = _Pending(fragment.index, call_id)
            self._calls.append(call)
        call.call_id = call.call_id or call_id
        call.name = call.name if call.name == name else call.name + name
        match function.arguments:
            case str(piece) if piece:
                call.pieces.append(piece)
            case dict(given):
                call.given = given
            case []:
                call.given = {}
            case list(given):
                call.pieces.append(encode_json(given).decode())
            case _:
                pass

    def finish(self, *, limited: bool, ended: bool, used: set[str]) -> list[CallChunk]:
        """`limited`: the reply reached the output limit, so the last call is dropped if it was cut. `ended`: the model
        said that it was done; otherwise, a call without arguments may have lost them.

        Raises BrokenStream if a call is incomplete.
        """
        found = [(call, self._arguments(call, limited=limited, ended=ended)) for call in self._calls]
        return [CallChunk(call.name, args, own_id(call.call_id, used)) for call, args in found if args is not None]

    def _arguments(self, call: _Pending, *, limited: bool, ended: bool) -> JsonObject | None:
        text = call.text.strip()
        args = call.given if call.given is not None else parse_object(text)
        if args is None and ended and not limited and text in ("", "null"):
            args = {}
        if args is not None and call.name:
            return args
        if limited:
            return None
        what = f"an incomplete call of {call.name}" if call.name else "a tool call without a name"
        raise BrokenStream(f"{self._model} sent {what}")

    def _belongs_to(
        self, fragment: CallFragment, call_id: str | None, name: str, function: FunctionFragment
    ) -> _Pending | None:
        """The call that the fragment continues; None if it begins a new one."""
        call = self._nearest(fragment.index, call_id)
        only_continues = function.arguments and not name  # vLLM's parsers make a new id for every piece
        if call is None or (call_id and call.call_id and call_id != call.call_id and not only_continues):
            return None
        if call_id and name and call.name not in ("", name) and call.is_whole:
            return None
        if name and call.name and not call_id:
            says_nothing_new = name == call.name and not function.arguments
            begins = call.is_whole or (name != call.name and not call.takes_more_name(fragment.index))
            return None if begins and not says_nothing_new else call
        return call

    def _nearest(self, index: int | None, call_id: str | None) -> _Pending | None:
        if index is not None:
            return next((call for call in reversed(self._calls) if call.index == index), None)
        same = (call for call in reversed(self._calls) if call_id and call.call_id == call_id)
        return next(same, self._calls[-1] if self._calls else None)
