"""Which models a chat-completions server has, the size of their context windows, and whether they call tools.

All servers have `/models`, each with its own fields; a few tell more elsewhere. Ollama and LM Studio have their own
modules.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assent.models.model_protocol import BrokenStream
from assent.models.openai_chat.chat_model import key_headers
from assent.models.openai_chat.chat_servers import ChatServer
from assent.models.openai_chat.server_catalog import ServerCatalog
from assent.models.provider import Access, FoundModel
from assent.parts import JsonObject


class _Meta(Struct):
    n_ctx: int | None = None


class _TopProvider(Struct):
    max_completion_tokens: int | None = None


class ListedModel(Struct, kw_only=True):
    """An entry of `/models`, with the fields of all servers."""

    id: str
    owned_by: str | None = None
    context_length: int | None = None
    """OpenRouter, Together, Fireworks."""
    context_window: int | None = None
    """Groq."""
    max_context_length: int | None = None
    """Mistral."""
    max_model_len: int | None = None
    """vLLM."""
    meta: _Meta | None = None
    """llama.cpp."""
    max_completion_tokens: int | None = None
    top_provider: _TopProvider | None = None
    supported_parameters: list[str] | None = None
    supports_tools: bool | None = None
    capabilities: Any = None


class _Listing(Struct):
    data: list[ListedModel]


class _Generation(Struct):
    n_ctx: int | None = None


class _TemplateCaps(Struct):
    supports_tools: bool | None = None


class _Props(Struct):
    default_generation_settings: _Generation | None = None
    chat_template_caps: _TemplateCaps | None = None


class _ModelInfo(Struct):
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    supports_function_calling: bool | None = None


class _Deployed(Struct):
    model_name: str
    model_info: _ModelInfo = msgspec.field(default_factory=_ModelInfo)


class _Deployments(Struct):
    data: list[_Deployed]


async def list_models(server: ChatServer, access: Access) -> Sequence[FoundModel]:
    """Raises ModelError."""
    from assent.models.openai_chat.chat_provider import key_advice

    async with ServerCatalog(access, key_headers(access, server.quirks), key_advice(server)) as catalog:
        return await _listing(server.name)(catalog)


def _listing(name: str) -> Callable[[ServerCatalog], Awaitable[Sequence[FoundModel]]]:
    match name:
        case "ollama":
            from assent.models.openai_chat.ollama_listing import list_ollama

            return list_ollama
        case "lmstudio":
            from assent.models.openai_chat.lmstudio_listing import list_lmstudio

            return list_lmstudio
        case "llamacpp":
            return _list_llamacpp
        case "litellm":
            return _list_litellm
        case "azure":
            return _list_azure
        case _:
            return list_plain


async def list_plain(catalog: ServerCatalog) -> Sequence[FoundModel]:
    return [_found(model) for model in await listed_models(catalog)]


async def listed_models(catalog: ServerCatalog) -> list[ListedModel]:
    """Together sends the bare list."""
    answer: object = await catalog.get(f"{catalog.api}/models", object)
    if isinstance(answer, list):
        answer = {"data": cast(list[object], answer)}
    try:
        return msgspec.convert(answer, _Listing).data
    except msgspec.ValidationError as error:
        raise BrokenStream("the server did not send a list of models") from error


def _found(model: ListedModel) -> FoundModel:
    windows = (model.meta and model.meta.n_ctx, model.max_model_len, model.context_length, model.context_window)
    outputs = (model.top_provider and model.top_provider.max_completion_tokens, model.max_completion_tokens)
    return FoundModel(
        name=model.id,
        window=next((window for window in (*windows, model.max_context_length) if window), None),
        output=next((output for output in outputs if output), None),
        tools=_calls_tools(model),
    )


def _calls_tools(model: ListedModel) -> bool | None:
    if model.supported_parameters is not None:
        return "tools" in model.supported_parameters
    if model.supports_tools is not None:
        return model.supports_tools
    if isinstance(model.capabilities, dict):
        told = cast(JsonObject, model.capabilities).get("function_calling")
        return told if isinstance(told, bool) else None
    return None


async def _list_llamacpp(catalog: ServerCatalog) -> Sequence[FoundModel]:
    """It usually has one model, and describes its abilities elsewhere."""
    models = await list_plain(catalog)
    props = await catalog.get_if_there(f"{catalog.root}/props", _Props) if len(models) == 1 else None
    if props is None:
        return models
    window = props.default_generation_settings.n_ctx if props.default_generation_settings else None
    tools = props.chat_template_caps.supports_tools if props.chat_template_caps else None
    return [replace(model, window=window or model.window, tools=tools) for model in models]


async def _list_litellm(catalog: ServerCatalog) -> Sequence[FoundModel]:
    models = await list_plain(catalog)
    told = await catalog.get_if_there(f"{catalog.root}/model/info", _Deployments)
    infos = {model.model_name: model.model_info for model in told.data} if told else {}
    return [_with_info(model, infos.get(model.name)) for model in models]


def _with_info(model: FoundModel, info: _ModelInfo | None) -> FoundModel:
    if info is None:
        return model
    return replace(
        model, window=info.max_input_tokens, output=info.max_output_tokens, tools=info.supports_function_calling
    )


async def _list_azure(catalog: ServerCatalog) -> Sequence[FoundModel]:
    """It lists all models, but not the names of this account's deployments. Nobody can choose from that list, but it
    shows that the key is valid.
    """
    await catalog.get("/openai/v1/models", _Listing)
    return ()
