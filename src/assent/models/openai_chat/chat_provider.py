"""Chat-completions servers as providers: completes base URLs and connects models."""

import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit, urlunsplit

from assent.models.openai_chat.chat_model import ChatModel
from assent.models.openai_chat.chat_servers import PRICES_AS_OF, SERVERS, ChatServer
from assent.models.provider import Access, FoundModel, Provider

OLLAMA_PORT = 11434
_PORT = re.compile(r":\d+$")
_NOWHERE = re.compile(r"^(?:0\.0\.0\.0|\[::\])?(?=:|$)")


def _connect(server: ChatServer, model: str, access: Access) -> ChatModel:
    return ChatModel(model, access, server.quirks, key_advice(server))


async def _list_models(server: ChatServer, access: Access) -> Sequence[FoundModel]:
    from assent.models.openai_chat.chat_listing import list_models

    return await list_models(server, access)


def key_advice(server: ChatServer) -> str:
    variable = server.key_variables[0] if server.key_variables else "the variable that `key_variable` names"
    where = f" at {server.key_page}" if server.key_page else ""
    return f"Get a key{where}, then run `assent login {server.name}` or set {variable} to it."


def complete_url(server: ChatServer, url: str) -> str:
    """People leave out the path and, for Ollama, the scheme and the port, as its own tools allow."""
    if server.name == "ollama":
        url = ollama_url(url)
    parts = urlsplit(url)
    if server.quirks.path == "azure":  # each request adds its own path
        return urlunsplit((parts.scheme, parts.netloc, "", "", ""))
    usual = urlsplit(server.base_url).path if server.base_url else "/v1"
    return url if parts.path.strip("/") else urlunsplit((parts.scheme, parts.netloc, usual, "", ""))


def ollama_url(host: str) -> str:
    """What OLLAMA_HOST means for a client. It may be an address that only servers can use, such as 0.0.0.0."""
    scheme, separator, rest = host.partition("://") if "://" in host else ("http", "", host)
    name, slash, path = rest.partition("/")
    if not separator and not _PORT.search(name):
        name = f"{name}:{OLLAMA_PORT}"
    return f"{scheme}://{_NOWHERE.sub('127.0.0.1', name)}{slash}{path}"


def _provider(server: ChatServer) -> Provider:
    return Provider(
        name=server.name,
        title=server.title,
        connect=partial(_connect, server),
        list_models=partial(_list_models, server),
        models=server.models,
        default_model=server.default_model,
        default_window=server.default_window,
        base_url=server.base_url,
        base_url_variable=server.base_url_variable,
        complete_url=partial(complete_url, server),
        key_variables=server.key_variables,
        key_optional=server.key_optional,
        key_page=server.key_page,
        prices_as_of=PRICES_AS_OF if server.models else "",
        prices_source=server.prices_source,
        is_local=server.is_local,
    )


PROVIDERS = {server.name: _provider(server) for server in SERVERS}
