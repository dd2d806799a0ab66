"""What is chosen in the UI and kept for the next time: a small file of its own. The hand-written settings stay as
they are.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.config import settings_file
from assent.files.private_folder import save_private
from assent.files.regular_file import NotPlain, read_plain

_HEADER = b"# Written by Assent: what was chosen with /theme and /editor. Your own settings are in settings.toml.\n"


class Preferences(Struct, frozen=True, omit_defaults=True):
    """Unknown fields are kept out, not refused: an older Assent may read the file of a newer one."""

    theme: str = ""
    editor: str = ""
    """The name of a known editor; empty for $VISUAL or $EDITOR."""


class PreferenceFile:
    """Read once; a file that cannot be used counts as empty, because nothing here is worth stopping for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chosen = _load(path)

    def keep(self, chosen: Preferences) -> str:
        """Gives the problem, empty when it was kept."""
        self.chosen = chosen
        try:
            save_private(self.path, _HEADER + _toml(chosen))
        except OSError as error:
            return f"It holds for now, but could not be kept in {self.path}: {error.strerror}."
        return ""


def preference_file(env: Mapping[str, str]) -> PreferenceFile:
    return PreferenceFile(settings_file(env).with_name("preferences.toml"))


def _toml(chosen: Preferences) -> bytes:
    """Names alone, and a JSON string is one of TOML, too."""
    fields = msgspec.to_builtins(chosen).items()
    return b"".join(name.encode() + b" = " + msgspec.json.encode(value) + b"\n" for name, value in fields)


def _load(path: Path) -> Preferences:
    try:
        return msgspec.toml.decode(read_plain(path), type=Preferences)
    except (OSError, NotPlain, msgspec.MsgspecError, UnicodeDecodeError):
        return Preferences()
