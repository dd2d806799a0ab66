"""Reads events that do not quite follow their format, without the part that nobody needs. Pure.

- Python's and JavaScript's JSON knows more than the standard: NaN and Infinity (a logarithm of zero), and halves of
  letters (half of an emoji at the end of a chunk).
- An empty value of another type says nothing: PHP writes an empty object as `[]`, others write `""`, `false` or null.
- Usage and the like are reports about a reply, and not the reply.
- A number may be an id.

The arguments of a call are never repaired.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from assent.models.wire_json import encode_json

Event = TypeVar("Event")
Path = list[str | int]

REPORTS = frozenset({"usage", "usageMetadata", "x_groq", "reasoning_details", "logprobs", "stop_details", "phase"})
IDS = frozenset({"id", "call_id", "item_id"})
ARGUMENTS = frozenset({"arguments", "args", "input", "partial_json"})
MAX_REPAIRS = 20
"""For one event."""

_PLACE = re.compile(r" - at `\$((?:\.\w+|\[\d+\])+)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def repair(decode: Callable[[bytes], Event], data: bytes) -> Event | None:
    """The event, if only something dispensable is wrong with it."""
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    for _ in range(MAX_REPAIRS):
        try:
            return decode(encode_json(document))
        except msgspec.ValidationError as error:
            if not _leave_out(document, _path(str(error))):
                return None
    return None


def _path(message: str) -> Path:
    found = _PLACE.search(message)
    steps = _STEP.findall(found.group(1)) if found is not None else []
    return [name or int(number) for name, number in steps]


def _leave_out(document: Any, path: Path) -> bool:
    """Remove what is in this place, or make it an id, unless it matters."""
    if not path or ARGUMENTS & set(path):
        return False
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    value = holder[last]
    if last in IDS and isinstance(value, int | float) and not isinstance(value, bool):
        holder[last] = str(value)
        return True
    if _is_empty(value) or REPORTS & set(path):
        del holder[last]
        return True
    return False


def _is_empty(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, str | list | dict) and not cast(Any, value))
