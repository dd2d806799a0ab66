"""Ollama's models, from its own API.

A model is trained for one context window and loaded with another, often a small one; Ollama silently cuts off the
beginning of what does not fit. So only the window that a model is, or will be, loaded with counts here.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from assent.models.model_protocol import ModelError
from assent.models.openai_chat.server_catalog import ServerCatalog
from assent.models.provider import FoundModel

SMALL_WINDOW = 32_768
MAX_CONCURRENT = 8
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)


class _Tag(Struct):
    name: str


class _Tags(Struct):
    models: list[_Tag]


class _Loaded(Struct):
    name: str
    context_length: int | None = None


class _Running(Struct):
    models: list[_Loaded]


class _Shown(Struct):
    capabilities: list[str] | None = None
    parameters: str | None = None


async def list_ollama(catalog: ServerCatalog) -> Sequence[FoundModel]:
    tags = await catalog.get(f"{catalog.root}/api/tags", _Tags)
    running = await catalog.get_if_there(f"{catalog.root}/api/ps", _Running)
    windows = {model.name: model.context_length for model in running.models} if running else {}
    turn = asyncio.Semaphore(MAX_CONCURRENT)

    async def look(name: str) -> FoundModel | None:
        async with turn:
            return await _found(catalog, name, windows)

    found = await asyncio.gather(*(look(tag.name) for tag in tags.models))
    return [model for model in found if model is not None]


async def _found(catalog: ServerCatalog, name: str, windows: Mapping[str, int | None]) -> FoundModel | None:
    """None for a model that cannot chat."""
    try:
        shown = await catalog.post(f"{catalog.root}/api/show", {"model": name}, _Shown)
    except ModelError:  # deleted since it was listed, or broken: only its name is known
        shown = _Shown()
    told = _NUM_CTX.search(shown.parameters or "")
    window = windows.get(name) or (int(told.group(1)) if told else None)
    abilities = shown.capabilities
    if abilities is not None and "completion" not in abilities:
        return None
    return FoundModel(name=name, window=window, tools=None if abilities is None else "tools" in abilities)


def window_warning(models: Sequence[FoundModel], env: Mapping[str, str]) -> str:
    """A warning for people whose conversations Ollama would cut; empty if there is no problem."""
    small = [model for model in models if model.window is not None and model.window < SMALL_WINDOW]
    if small:
        names = ", ".join(f"{model.name} ({model.window:,})" for model in small[:3])
        return f"Ollama gives {names} a context window below {SMALL_WINDOW:,} tokens. {_ADVICE}"
    is_set = env.get("OLLAMA_CONTEXT_LENGTH", "").strip().isdecimal()
    if models and not is_set and all(model.window is None for model in models):
        return f"Ollama may give its models a context window of only 4,096 tokens. {_ADVICE}"
    return ""


_ADVICE = (
    "It silently drops the beginning of a conversation that does not fit: "
    f"start it with OLLAMA_CONTEXT_LENGTH={SMALL_WINDOW} or more."
)
