"""Asking a provider which models it has: one GET, one JSON document. What all providers share."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from assent.http.head import Headers
from assent.models.model_protocol import BrokenStream, ModelError
from assent.models.streamed_model import hidden
from assent.models.streaming_client import HttpClient

LONGEST_LIST = 8 << 20
"""In bytes."""

T = TypeVar("T")
Refused = Callable[[int, Mapping[str, str], bytes], ModelError]


async def fetch_list(http: HttpClient, path: str, headers: Headers, kind: type[T], refused: Refused, key: str) -> T:
    """Closes the client. `refused` makes the error of a reply that is one. Raises ModelError."""
    try:
        plain = (("Accept", "application/json"), ("Accept-Encoding", "identity"), *headers)
        async with await http.get(path, plain) as response:
            body = await response.read_all(LONGEST_LIST)
            if response.status != 200:
                raise refused(response.status, response.headers, hidden(key, body))
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BrokenStream(f"{http.host} sent an unreadable list of models: {error}") from error
    finally:
        await http.close()
