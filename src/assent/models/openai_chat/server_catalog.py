"""Asks a server about itself: one GET or POST, one JSON document. It knows no server by name."""

from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

from assent.http.head import Headers
from assent.models.model_protocol import BadRequest, BrokenStream, ModelError
from assent.models.openai_chat.chat_failures import chat_failure
from assent.models.provider import Access
from assent.models.streamed_model import hidden
from assent.models.streaming_client import HttpClient, Response, Timeouts

T = TypeVar("T")

LARGEST = 16 << 20
"""Bytes of a list; a router has hundreds of models."""
PATIENCE = Timeouts(connect=10.0, read=30.0)


class ServerCatalog:
    """`api`: the path of chat completions, such as `/v1`. `root`: the path of the server's own API."""

    def __init__(self, access: Access, key_headers: Headers, advice: str) -> None:
        parts = urlsplit(access.base_url)
        self.api = parts.path.rstrip("/")
        self.root = self.api.removesuffix("/v1")
        origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self._http = HttpClient(origin, access.proxy, access.timeouts or PATIENCE)
        self._headers = (("Accept", "application/json"), ("Accept-Encoding", "identity"), *key_headers)
        self._key, self._advice = access.key, advice

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
            body = hidden(self._key, await response.read_all(LARGEST))
        if response.status != 200:
            raise self._failure(response, body)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise BrokenStream(f"{self._http.host} did not send a list of models") from error

    def _failure(self, response: Response, body: bytes) -> ModelError:
        return chat_failure(response.status, response.headers, body, self._http.host, self._advice)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()
