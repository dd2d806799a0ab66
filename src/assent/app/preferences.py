"""Choices made in the UI and kept for the next time, in a small file of their own. The hand-written settings stay as
they are.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.config import settings_file
from assent.files.private_folder import save_private
from assent.files.regular_file import NotPlain, read_plain

_HEADER = b"# Written by Assent: what you chose with /theme and /editor. Your own settings are in settings.toml.\n"


class Preferences(Struct, frozen=True, omit_defaults=True):
    """Unknown fields are ignored: an older Assent may read the file of a newer one."""

    theme: str = ""
    editor: str = ""
    """The name of a known editor; empty for $VISUAL or $EDITOR."""


class PreferenceFile:
    """Read once; an unusable file counts as empty, because nothing in it is worth failing for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chosen = _load(path)

    def keep(self, chosen: Preferences) -> str:
        """Returns the problem, empty if there was none."""
        self.chosen = chosen
        try:
            save_private(self.path, _HEADER + _toml(chosen))
        except OSError as error:
            return f"This applies for now, but could not be saved in {self.path}: {error.strerror}."
        return ""


def preference_file(env: Mapping[str, str]) -> PreferenceFile:
    return PreferenceFile(settings_file(env).with_name("preferences.toml"))


def _toml(chosen: Preferences) -> bytes:
    """The values are plain names, and a JSON string is also a TOML string."""
    fields = msgspec.to_builtins(chosen).items()
    return b"".join(name.encode() + b" = " + msgspec.json.encode(value) + b"\n" for name, value in fields)


def _load(path: Path) -> Preferences:
    try:
        return msgspec.toml.decode(read_plain(path), type=Preferences)
    except (OSError, NotPlain, msgspec.MsgspecError, UnicodeDecodeError):
        return Preferences()
