"""Settings: defaults < the user's file < environment < flags. Nothing of the workspace is read: it is not trusted yet.

Everything Assent keeps is below one folder, readable by its owner only.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.events import GateKind

DEFAULT_MODEL = "gemini-2.5-pro"


class BadSettings(ValueError):
    """The settings cannot be used; the message names the file and the place."""


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The user's settings file, `settings.toml`."""

    model: str = DEFAULT_MODEL
    fallback_model: str | None = None
    """A smaller model that goes on when the quota of `model` is used up."""
    approval_mode: Literal["default", "auto_edit", "plan"] = "default"
    """yolo is not a setting: it takes a flag at every start."""
    gate: GateKind = "batch"
    allowed_tools: tuple[str, ...] = ()
    max_turns: int = 100
    approval_ttl: float | None = None
    """Seconds after which an unanswered question expires; never, if not set."""
    compression_threshold: float = 0.5
    """The share of the model's context window above which the conversation is compressed; 0 is never."""
    context_window: int | None = None
    """In tokens; by the model's name, if not set."""


def data_folder(env: Mapping[str, str]) -> Path:
    if home := env.get("ASSENT_HOME"):
        return Path(home)
    base = env.get("XDG_DATA_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".local" / "share")
    return Path(base) / "assent"


def settings_file(env: Mapping[str, str]) -> Path:
    if home := env.get("ASSENT_HOME"):
        return Path(home) / "settings.toml"
    base = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".config")
    return Path(base) / "assent" / "settings.toml"


def load_settings(env: Mapping[str, str]) -> Settings:
    path = settings_file(env)
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise BadSettings(f"cannot read {path}: {error.strerror}") from error
    try:
        return msgspec.toml.decode(text, type=Settings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path}: {error}") from error
