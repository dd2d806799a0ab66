"""A folder's own configuration, which takes effect only once it is trusted, as people see it before they decide."""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from assent.app.rule_sources import trust_store
from assent.config import BadSettings, parse_workspace_settings, settings_file
from assent.files.regular_file import NotPlain, read_plain
from assent.policy.trust import CONFIG_FOLDER, Trust
from assent.safe_open import open_regular

MAX_SHOWN = 20_000


class Untrusted(Struct, frozen=True):
    """Exactly this is trusted if the person agrees."""

    seen: Trust
    contents: dict[str, str]
    """By name: the files that are new or have changed. Untrusted text: make it safe."""
    problem: str = ""
    """Why it cannot be trusted. Untrusted text as well."""


def look(env: Mapping[str, str], folder: str) -> Untrusted | None:
    """None if there is nothing, or if all of it is trusted as it is."""
    seen = trust_store(env).look(Path(folder))
    if seen.state in ("nothing", "trusted"):
        return None
    new = [name for name in seen.files if seen.state == "untrusted" or name in seen.changed]
    return Untrusted(seen, {name: content(Path(folder) / name) for name in new}, problem(env, folder))


def problem(env: Mapping[str, str], folder: str) -> str:
    """What is wrong with the folder's settings; empty if nothing is. Once trusted, they would keep Assent from starting
    here, while those of an untrusted folder are not used."""
    path = Path(folder, CONFIG_FOLDER, "settings.toml")
    try:
        parse_workspace_settings(read_plain(path), path, settings_file(env))
    except FileNotFoundError:
        return ""
    except (NotPlain, BadSettings) as error:
        return str(error)
    return ""


def accept(env: Mapping[str, str], folder: str, shown: Untrusted) -> None:
    trust_store(env).trust(Path(folder), shown.seen)


def content(path: Path) -> str:
    try:
        with os.fdopen(open_regular(path, follow=False), "rb") as file:
            return file.read(MAX_SHOWN).decode(errors="replace")
    except OSError:
        return "(not a regular file)\n"
