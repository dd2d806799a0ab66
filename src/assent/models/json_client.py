"""Asks a provider about itself: one GET or POST, one JSON document, such as a list of models. It knows no provider."""

from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import msgspec

from assent.http.head import Headers
from assent.models.model_protocol import BadRequest, BrokenStream, ModelError
from assent.models.streamed_model import hidden
from assent.models.streaming_client import HttpClient, Response
from assent.models.wire_json import BAD_JSON

MAX_DOCUMENT_SIZE = 16 << 20
"""In bytes; a router has hundreds of models."""

T = TypeVar("T")
ReadFailure = Callable[[int, Mapping[str, str], bytes], ModelError]
"""Makes the error of a response that is not 200."""


class JsonClient:
    """Closes its HTTP client at the end of the `async with`."""

    def __init__(self, http: HttpClient, headers: Headers, key: str, failure: ReadFailure) -> None:
        self._http = http
        self._headers = (("Accept", "application/json"), ("Accept-Encoding", "identity"), *headers)
        self._key = key
        self._failure = failure

    async def get(self, path: str, kind: type[T]) -> T:
        """Raises ModelError; BrokenStream if the response has another shape."""
        return await self._read(await self._http.get(path, self._headers), kind)

    async def post(self, path: str, body: Any, kind: type[T]) -> T:
        headers = (*self._headers, ("Content-Type", "application/json"))
        return await self._read(await self._http.post(path, headers, msgspec.json.encode(body)), kind)

    async def get_if_there(self, path: str, kind: type[T]) -> T | None:
        """None if the server has no such path, or something else there."""
        try:
            return await self.get(path, kind)
        except (BadRequest, BrokenStream):
            return None

    async def _read(self, response: Response, kind: type[T]) -> T:
        async with response:
            body = hidden(self._key, await response.read_all(MAX_DOCUMENT_SIZE))
        if response.status != 200:
            raise self._failure(response.status, response.headers, body)
        try:
            return msgspec.json.decode(body, type=kind)
        except BAD_JSON as error:
            raise BrokenStream(f"{self._http.host} did not send a list of models: {error}") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()
