"""How the conventions name providers and models."""

from assent.models.model_protocol import UnknownModel
from assent.models.provider_registry import split_name

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
_FILES = ("gguf", "scripted")
"""Their models are files, and the folders of this machine are private."""


def provider_and_model(name: str) -> tuple[str, str]:
    """Of a model as the log names it; a provider that the conventions do not know keeps its own name."""
    try:
        provider, model = split_name(name)
    except UnknownModel:
        provider, colon, model = name.partition(":")
        if not colon:
            provider, model = "_OTHER", name
    return _PROVIDERS.get(provider, provider), model.rpartition("/")[2] if provider in _FILES else model
