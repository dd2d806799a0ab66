"""Finds servers on this machine, at their usual ports, for people who have not chosen a model yet.

All are asked at once and without a key: another program may listen on the port. Nothing here delays the first request.
"""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct

from assent.models.model_choice import base_url
from assent.models.model_protocol import ModelError
from assent.models.openai_chat.chat_listing import list_models, listed_models
from assent.models.openai_chat.chat_provider import PROVIDERS
from assent.models.openai_chat.chat_servers import SERVERS, ChatServer
from assent.models.openai_chat.lmstudio_listing import list_natively
from assent.models.openai_chat.ollama_listing import window_warning
from assent.models.openai_chat.server_catalog import ServerCatalog
from assent.models.provider import Access, FoundModel
from assent.models.proxy import proxy_for
from assent.models.streaming_client import Timeouts

ANSWER_TIMEOUT = 1.0
"""Seconds for a server to identify itself. A port without a listener fails at once."""
LIST_TIMEOUT = 5.0


class LocalServer(Struct, frozen=True, kw_only=True):
    provider: str
    """The prefix of its models' names."""
    title: str
    base_url: str
    models: tuple[FoundModel, ...]
    warning: str = ""
    """What people should know before they choose one of its models; usually empty."""


class _Version(Struct):
    version: str


async def find_local_servers(
    env: Mapping[str, str], answer_within: float = ANSWER_TIMEOUT, list_within: float = LIST_TIMEOUT, *, only: str = ""
) -> tuple[LocalServer, ...]:
    """The servers that respond; with `only`, no other is asked. OLLAMA_HOST and similar variables replace the usual
    port.
    """
    local = [server for server in SERVERS if server.is_local and only in ("", server.name)]
    found = await asyncio.gather(*(_look(server, env, answer_within, list_within) for server in local))
    return tuple(server for server in found if server is not None)


async def _look(
    server: ChatServer, env: Mapping[str, str], answer_within: float, list_within: float
) -> LocalServer | None:
    try:
        url = base_url(PROVIDERS[server.name], env)
        timeouts = Timeouts(connect=answer_within, read=list_within)
        access = Access(base_url=url, provider=server.name, proxy=proxy_for(url, env), timeouts=timeouts, env=env)
        async with asyncio.timeout(answer_within):
            if not await _is_this(server, access):
                return None
        async with asyncio.timeout(list_within):
            models = await list_models(server, access)
    except (ModelError, TimeoutError):
        return None
    return LocalServer(
        provider=server.name,
        title=server.title,
        base_url=url,
        models=tuple(models),
        warning=_warning(server, models, env),
    )


async def _is_this(server: ChatServer, access: Access) -> bool:
    """Whether it is the server expected on this port, and not another program."""
    async with ServerCatalog(access, (), "") as catalog:
        match server.name:
            case "ollama":
                return await catalog.get_if_there(f"{catalog.root}/api/version", _Version) is not None
            case "lmstudio":
                return await list_natively(catalog) is not None
            case name:
                return any(model.owned_by == name for model in await listed_models(catalog))


def _warning(server: ChatServer, models: Sequence[FoundModel], env: Mapping[str, str]) -> str:
    if server.name == "ollama":
        return window_warning(models, env)
    if models and all(model.tools is False for model in models):
        return f"The models of {server.title} cannot call tools as they are configured now."
    return ""
