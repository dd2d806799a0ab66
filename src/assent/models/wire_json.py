"""JSON for the wire. Pure."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from assent.models.model_protocol import BrokenStream

Event = TypeVar("Event")
BAD_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes from a server, whatever is wrong with them."""

DONE = b"[DONE]"
"""Ends a stream for servers that speak like OpenAI, and says nothing to others."""
SHOWN = 200
"""Bytes of an event that is not JSON: probably an error, in plain words."""
Count = int | float | None
"""A number of tokens, as servers write it."""
MOST_TOKENS = 10**12
"""More than any request can have: a larger number makes no sense, and would spoil every sum from then on."""


def count(tokens: Count) -> int:
    """0 for what is not a number of tokens: negative, NaN or absurdly large."""
    return int(tokens) if tokens is not None and 0 < tokens <= MOST_TOKENS else 0


def decode_event(decode: Callable[[bytes], Event], data: bytes, model: str) -> Event:
    """One event of a reply. Raises BrokenStream."""
    try:
        return decode(data)
    except UnicodeDecodeError as error:
        raise BrokenStream(f"{model} sent a malformed event: {error}") from error
    except msgspec.MsgspecError as error:
        from assent.models.wire_repair import repair

        if (event := repair(decode, data)) is not None:
            return event
        what = str(error) if data.lstrip()[:1] in (b"{", b"[") else data[:SHOWN].decode(errors="replace")
        raise BrokenStream(f"{model} sent a malformed event: {what}") from error
    except RecursionError:
        raise BrokenStream(f"{model} sent a malformed event: it is nested too deeply") from None


def encode_json(value: Any) -> bytes:
    """JSON that every server accepts: a lone surrogate, which UTF-8 cannot encode, becomes a replacement character."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_without_surrogates(item) for item in cast(list[Any], value)]
        case dict():
            items = cast(dict[str, Any], value).items()
            return {_without_surrogates(key): _without_surrogates(item) for key, item in items}
        case _:
            return value
