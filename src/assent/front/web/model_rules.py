"""Which models a session may name over the API. A model in a file is a path on the server: the operator of the server
decides which ones may be used, not everyone with a token.
"""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from assent.app.model_access import ModelAccess

FILE_PROVIDERS = ("scripted", "gguf")


def why_refused(name: str, access: ModelAccess, patterns: Sequence[str]) -> str:
    """Why it may not be used; empty if it may."""
    provider, _, path = name.partition(":")
    own = access.settings.providers.get(provider)
    if (provider if own is None else own.kind or provider) not in FILE_PROVIDERS or name in _configured(access):
        return ""
    resolved = f"{provider}:{os.path.realpath(os.path.expanduser(path))}"  # `..` and links lead nowhere else
    if any(fnmatchcase(resolved, pattern) for pattern in patterns):
        return ""
    return (
        f"this server does not allow the model file {path}; its operator can allow such files with "
        f"--allow-model '{provider}:/FOLDER/*'"
    )


def _configured(access: ModelAccess) -> tuple[str | None, ...]:
    settings = access.settings
    return (access.env.get("ASSENT_MODEL", "").strip(), settings.model, settings.small_model, settings.fallback_model)
