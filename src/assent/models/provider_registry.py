"""Which providers there are, and which one a model's name means. Providers are imported one by one, when they are used.

A name is `provider:model`. The provider can be left out where the name alone tells it, as in `claude-opus-5-5`.
"""

from importlib import import_module

from assent.models.model_protocol import UnknownModel
from assent.models.provider import Provider

_MODULES = {
    "anthropic": "anthropic.anthropic_provider",
    "gemini": "gemini.gemini_provider",
    "openai": "openai.openai_provider",
    "scripted": "scripted.scripted_provider",
    "vertex": "gemini.gemini_provider",
}
"""The module that has a `PROVIDERS` mapping with this provider in it."""

_WELL_KNOWN = (
    ("claude-", "anthropic"),
    ("gemini-", "gemini"),
    ("gemma-", "gemini"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex-", "openai"),
)
"""Names that tell their provider."""


def provider_names() -> tuple[str, ...]:
    return tuple(_MODULES)


def find_provider(name: str) -> Provider:
    """Raises UnknownModel."""
    if name not in _MODULES:
        raise UnknownModel(f"there is no provider {name!r}{_nearest(name, provider_names())}")
    providers: dict[str, Provider] = import_module(f"assent.models.{_MODULES[name]}").PROVIDERS
    return providers[name]


def split_name(name: str) -> tuple[str, str]:
    """Return the provider and the model that a name means. Raises UnknownModel."""
    provider, colon, model = name.partition(":")
    if colon and provider in _MODULES:
        return provider, model
    plain = name.removeprefix("models/")
    if (found := well_known(plain)) is not None:
        return found, plain
    raise UnknownModel(
        f"{name!r} does not say which provider has the model: write provider:model, "
        f"where the provider is one of {', '.join(provider_names())}"
    )


def well_known(model: str) -> str | None:
    """The provider that a plain name tells."""
    return next((provider for start, provider in _WELL_KNOWN if model.startswith(start)), None)


def provider_of(name: str) -> str:
    """The provider of a recorded name; empty where nobody knows it any more."""
    try:
        return split_name(name)[0]
    except UnknownModel:
        return ""


def full_name(provider: str, model: str) -> str:
    """The shortest name that means this model of this provider."""
    return model if well_known(model) == provider else f"{provider}:{model}"


def shortest_name(name: str) -> str:
    """The same for all names of one model: people may write the provider where it is not needed."""
    try:
        return full_name(*split_name(name))
    except UnknownModel:
        return name


def _nearest(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, names, n=1)
    return f": did you mean {found[0]}?" if found else f"; there are {', '.join(names)}"
