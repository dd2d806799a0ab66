"""Lists the providers, and finds the one that a model's name means. A provider is imported only when it is used.

A name is `provider:model`. The provider can be left out if the name alone identifies it, as in `claude-opus-5-5`.
People can define their own providers, `[providers.NAME]` in the settings: a built-in one at another address.
"""

from collections.abc import Mapping
from importlib import import_module

from msgspec.structs import replace

from assent.config import OwnProvider
from assent.models.model_protocol import BadRequest, UnknownModel
from assent.models.provider import Provider

OwnProviders = Mapping[str, OwnProvider]

_CHAT = "openai_chat.chat_provider"
_MODULES = {
    "anthropic": "anthropic.anthropic_provider",
    "gemini": "gemini.gemini_provider",
    "openai": "openai.openai_provider",
    "openai-chat": _CHAT,
    "azure": _CHAT,
    "openrouter": _CHAT,
    "groq": _CHAT,
    "deepseek": _CHAT,
    "mistral": _CHAT,
    "xai": _CHAT,
    "together": _CHAT,
    "fireworks": _CHAT,
    "cerebras": _CHAT,
    "litellm": _CHAT,
    "ollama": _CHAT,
    "llamacpp": _CHAT,
    "lmstudio": _CHAT,
    "vllm": _CHAT,
    "gguf": "gguf.gguf_provider",
    "scripted": "scripted.scripted_provider",
    "vertex": "gemini.gemini_provider",
}
"""The module whose `PROVIDERS` mapping contains this provider."""

_WELL_KNOWN = (
    ("claude-", "anthropic"),
    ("gemini-", "gemini"),
    ("gemma-", "gemini"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex-", "openai"),
    ("deepseek-", "deepseek"),
    ("mistral-", "mistral"),
    ("magistral-", "mistral"),
    ("codestral-", "mistral"),
    ("devstral-", "mistral"),
    ("grok-", "xai"),
)
"""Model names that identify their provider."""


ANY_SERVER = "openai_chat"
"""The kind of a person's own provider that is not like a built-in one: any chat-completions server."""


def provider_names(own: OwnProviders | None = None) -> tuple[str, ...]:
    """Those that people can choose; the scripted one is for tests and the tour."""
    return tuple(dict.fromkeys(name for name in (*_MODULES, *(own or ())) if name != "scripted"))


def find_provider(name: str, own: OwnProviders | None = None) -> Provider:
    """Raises UnknownModel, or BadRequest for an unusable entry in the settings."""
    if own and name in own:
        return _own_provider(name, own[name])
    if name not in _MODULES:
        raise UnknownModel(f"there is no provider {name!r}{_nearest(name, provider_names(own))}")
    return _built_in(name, _MODULES[name])


def _own_provider(name: str, entry: OwnProvider) -> Provider:
    """A built-in provider under another name, at another address, with another key."""
    kind = entry.kind or (name if name in _MODULES else ANY_SERVER)
    if kind != ANY_SERVER and kind not in _MODULES:
        raise BadRequest(
            f"settings: providers.{name}.kind is {kind!r}{_nearest(kind, (ANY_SERVER, *provider_names()))}"
        )
    base = _built_in(kind, _MODULES.get(kind, _CHAT))
    if not (entry.base_url or base.base_url or base.base_url_variable):
        raise BadRequest(f"settings: providers.{name} needs a base_url")
    is_elsewhere = bool(entry.base_url) and name != kind
    return replace(
        base,
        name=name,
        title=name if name != kind else base.title,
        base_url=entry.base_url or base.base_url,
        base_url_variable="" if entry.base_url else base.base_url_variable,
        key_variables=(entry.key_variable,) if entry.key_variable else () if is_elsewhere else base.key_variables,
        key_optional=not entry.key_variable and (is_elsewhere or base.key_optional),
        key_page="" if is_elsewhere else base.key_page,
        default_model=entry.default_model or base.default_model,
        default_window=entry.context_window or base.default_window,
        models=() if is_elsewhere else base.models,
        is_local=False,
    )


def _built_in(name: str, module: str) -> Provider:
    providers: dict[str, Provider] = import_module(f"assent.models.{module}").PROVIDERS
    return providers[name]


def split_name(name: str, own: OwnProviders | None = None) -> tuple[str, str]:
    """Split a name into the provider and the model. Raises UnknownModel."""
    provider, colon, model = name.partition(":")
    if colon and (provider in _MODULES or (own and provider in own)):
        return provider, model
    plain = name.removeprefix("models/")
    if (found := well_known(plain)) is not None:
        return found, plain
    raise UnknownModel(_unknown(name, own))


def _unknown(name: str, own: OwnProviders | None) -> str:
    from difflib import get_close_matches

    names = provider_names(own)
    provider, colon, model = name.partition(":")
    if colon and (near := get_close_matches(provider, names, n=1, cutoff=0.85)):
        return f"there is no provider {provider!r}: did you mean {near[0]}:{model}?"
    return (
        f"{name!r} does not say which provider has the model: write provider:model, "
        f"where the provider is one of {', '.join(names)}"
    )


def well_known(model: str) -> str | None:
    """The provider that a name without a prefix identifies."""
    return next((provider for start, provider in _WELL_KNOWN if model.startswith(start)), None)


def provider_of(name: str) -> str:
    """The provider of a recorded name, even if it is no longer in the settings; empty if unknown."""
    try:
        return split_name(name)[0]
    except UnknownModel:
        return name.partition(":")[0] if ":" in name else ""


def full_name(provider: str, model: str) -> str:
    """The shortest name for this model of this provider."""
    return model if well_known(model) == provider else f"{provider}:{model}"


def shortest_name(name: str) -> str:
    """The same result for all names of one model: people may write the provider where it is not needed."""
    try:
        return full_name(*split_name(name))
    except UnknownModel:
        return name


def _nearest(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, names, n=1, cutoff=0.7)
    return f": did you mean {found[0]}?" if found else f"; there are {', '.join(names)}"
