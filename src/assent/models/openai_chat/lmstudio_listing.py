"""LM Studio's models: from its own API, its older one, or the list that all servers have."""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from assent.models.openai_chat.chat_listing import list_plain
from assent.models.openai_chat.server_catalog import ServerCatalog
from assent.models.provider import FoundModel
from assent.parts import JsonObject


class _Config(Struct):
    context_length: int | None = None


class _Instance(Struct):
    config: _Config | None = None


class _Model(Struct):
    key: str
    type: str = ""
    max_context_length: int | None = None
    loaded_instances: list[_Instance] = []
    capabilities: Any = None


class _Models(Struct):
    models: list[_Model]


class _OldModel(Struct):
    id: str
    type: str = ""
    max_context_length: int | None = None
    loaded_context_length: int | None = None
    capabilities: Any = None


class _OldModels(Struct):
    data: list[_OldModel]


async def list_lmstudio(catalog: ServerCatalog) -> Sequence[FoundModel]:
    found = await list_natively(catalog)
    return await list_plain(catalog) if found is None else found


async def list_natively(catalog: ServerCatalog) -> Sequence[FoundModel] | None:
    """None if the server is not LM Studio."""
    newest = await catalog.get_if_there(f"{catalog.root}/api/v1/models", _Models)
    if newest is not None:
        return [_found(model) for model in newest.models if "embedding" not in model.type]
    older = await catalog.get_if_there(f"{catalog.root}/api/v0/models", _OldModels)
    return [_old_found(model) for model in older.data if "embedding" not in model.type] if older is not None else None


def _found(model: _Model) -> FoundModel:
    loaded = [entry.config.context_length for entry in model.loaded_instances if entry.config is not None]
    window = next((window for window in loaded if window), model.max_context_length)
    return FoundModel(name=model.key, window=window, tools=_calls_tools(model.capabilities))


def _old_found(model: _OldModel) -> FoundModel:
    window = model.loaded_context_length or model.max_context_length
    return FoundModel(name=model.id, window=window, tools=_calls_tools(model.capabilities))


def _calls_tools(capabilities: Any) -> bool | None:
    """A list of names in the older API, an object of flags in the newer one."""
    if isinstance(capabilities, list):
        return "tool_use" in capabilities
    if isinstance(capabilities, dict):
        flags = cast(JsonObject, capabilities)
        told = flags.get("trained_for_tool_use", flags.get("tool_use"))
        return told if isinstance(told, bool) else None
    return None
