"""Asks a chat-completions server about itself. It knows no server by name."""

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from assent.http.head import Headers
from assent.models.json_client import JsonClient
from assent.models.model_protocol import ModelError
from assent.models.openai_chat.chat_failures import chat_failure
from assent.models.provider import Access
from assent.models.streaming_client import HttpClient, Timeouts

DEFAULT_TIMEOUTS = Timeouts(connect=10.0, read=30.0)


class ServerCatalog(JsonClient):
    """`api`: the path of chat completions, such as `/v1`. `root`: the path of the server's own API."""

    def __init__(self, access: Access, key_headers: Headers, advice: str) -> None:
        parts = urlsplit(access.base_url)
        self.api = parts.path.rstrip("/")
        self.root = self.api.removesuffix("/v1")
        origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        http = HttpClient(origin, access.proxy, access.timeouts or DEFAULT_TIMEOUTS)

        def failure(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
            return chat_failure(status, headers, body, http.host, advice)

        super().__init__(http, key_headers, access.key, failure)
