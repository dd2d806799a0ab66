"""Gemini's events with the names that its protocol buffers have, as gateways in Python write them. Pure."""

import re
from typing import Any, cast

import msgspec

from assent.models.wire_json import BAD_JSON

_SNAKE_KEY = re.compile(rb'"[a-z]+(?:_[a-z]+)+"\s*:')
_AS_THEY_ARE = frozenset({"args"})
"""What the names inside belong to someone else: a tool."""


def in_camel_case(event: bytes) -> bytes:
    """The same event with the names that Google's API sends; what is not JSON stays as it is."""
    if b"_" not in event or _SNAKE_KEY.search(event) is None:
        return event
    try:
        return msgspec.json.encode(_renamed(msgspec.json.decode(event)))
    except BAD_JSON:
        return event


def _renamed(value: Any) -> Any:
    match value:
        case list():
            return [_renamed(item) for item in cast(list[Any], value)]
        case dict():
            items = cast(dict[str, Any], value).items()
            return {_camel(name): item if name in _AS_THEY_ARE else _renamed(item) for name, item in items}
        case _:
            return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
