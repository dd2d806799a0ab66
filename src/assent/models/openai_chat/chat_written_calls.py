"""Calls that a model writes as text, in a fence or in `<tool_call>` tags, because its server does not parse them.

Nothing is guessed: the whole reply must consist of such blocks, and each must be a JSON object that names a tool
offered to the model, with an object of arguments. Anything else is text. Pure.
"""

import re
from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct

from assent.models.model_protocol import CallChunk
from assent.parts import JsonObject

_FENCES = ("json", "tool_calls", "tool_call", "tool_code", "tool", "")
_OPENINGS = ("<tool_call>", *(f"```{kind}\n" for kind in _FENCES))
_OPENING = re.compile(rf"\s*(?:(<tool_call>)|```(?:{'|'.join(_FENCES)})[ \t]*\n)\s*(?=[\[{{])")
_CLOSING = {True: re.compile(r"\s*</tool_call>\s*"), False: re.compile(r"\s*```\s*")}


class _Written(Struct, forbid_unknown_fields=True):
    name: str
    arguments: JsonObject | None = None
    parameters: JsonObject | None = None
    id: Any = None
    type: Any = None


class WrittenCalls:
    """Holds back a text that may consist of nothing but calls; all other text passes at once."""

    def __init__(self, offered: Collection[str]) -> None:
        self._offered = offered
        self._held: list[str] = []
        self._is_text = not offered
        self._is_block = False

    @property
    def is_text(self) -> bool:
        """Whether everything from here on is text."""
        return self._is_text

    def feed(self, text: str) -> str:
        """The text that need not be held back."""
        if self._is_text:
            return text
        self._held.append(text)
        if self._is_block:
            return ""
        beginning = "".join(self._held)
        self._is_block = _OPENING.match(beginning) is not None
        if self._is_block or _may_begin(beginning.lstrip()):
            return ""
        self._is_text = True
        return self._release()

    def end(self) -> tuple[str, list[CallChunk]]:
        """What was held back, as text or as calls."""
        text = self._release()
        calls = read_written_calls(text, self._offered) if self._is_block else []
        return ("", calls) if calls else (text, [])

    def _release(self) -> str:
        text = "".join(self._held)
        self._held = []
        return text


def read_written_calls(text: str, offered: Collection[str]) -> list[CallChunk]:
    """The calls, if the text consists of nothing else; otherwise none."""
    from json import JSONDecoder  # unlike msgspec, it says where a value ends

    read, calls, place = JSONDecoder().raw_decode, list[CallChunk](), 0
    while place < len(text):
        opening = _OPENING.match(text, place)
        if opening is None:
            return []
        try:
            value, end = read(text, opening.end())
        except (ValueError, RecursionError):
            return []
        closing = _CLOSING[opening[1] is not None].match(text, end)
        found = _read_block(value, offered)
        if closing is None or not found:
            return []
        calls += found
        place = closing.end()
    return calls


def _read_block(value: Any, offered: Collection[str]) -> list[CallChunk]:
    try:
        written = msgspec.convert(value if isinstance(value, list) else [value], list[_Written])
    except msgspec.MsgspecError:
        return []
    calls = [_call(item) for item in written]
    whole = [call for call in calls if call is not None and call.name in offered]
    return whole if len(whole) == len(calls) else []


def _call(written: _Written) -> CallChunk | None:
    given = [args for args in (written.arguments, written.parameters) if args is not None]
    return CallChunk(written.name, given[0]) if len(given) == 1 else None


def _may_begin(text: str) -> bool:
    """Whether more text could still complete a block. After the opening, only JSON may follow."""
    return any(opening.startswith(text) or text.rstrip() == opening.rstrip() for opening in _OPENINGS)
