"""Adds and removes `[mcp.servers.NAME]` in the text of a settings file, leaving every other line as it is.

The result is parsed again before it is written: a change that does more than it should is refused.
"""

import json
import re
from pathlib import Path

from assent.config import BadSettings, Settings, parse_settings
from assent.parts import JsonObject

_HEADER = re.compile(r"^[ \t]*\[{1,2}([^\]\n]*)\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)


class WrongName(ValueError):
    """There is no such server, or there is one already."""


def with_server(text: str, path: Path, name: str, entry: JsonObject) -> str:
    """Raises WrongName if the server exists already, and BadSettings if the entry is invalid."""
    if name in parse_settings(text.encode(), path).mcp.servers:
        raise WrongName(f"{path}: there is already a server {name}; remove it first")
    lines = [f"[mcp.servers.{name}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    before = f"{text.rstrip()}\n\n" if text.strip() else ""
    changed = before + "\n".join(lines) + "\n"
    _check(text, changed, path, {name: entry})
    return changed


def without_server(text: str, path: Path, name: str) -> str:
    """Raises WrongName if there is no such server, and BadSettings if it has to be edited by hand."""
    if name not in parse_settings(text.encode(), path).mcp.servers:
        raise WrongName(f"{path}: there is no server {name}")
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    changed = text
    for header, end in reversed(list(zip(headers, ends, strict=True))):
        words = header[1].replace('"', "").replace("'", "").replace(" ", "")
        if words == f"mcp.servers.{name}" or words.startswith(f"mcp.servers.{name}."):
            changed = changed[: header.start()] + changed[end:]
    _check(text, changed, path, {name: None})
    return changed


def _check(before: str, after: str, path: Path, change: dict[str, JsonObject | None]) -> None:
    old, new = _tables(before, path), _tables(after, path)
    wanted = {name: table for name, table in (old.mcp.servers | change).items() if table is not None}
    if new.mcp.servers != wanted or _rest(old) != _rest(new):
        raise BadSettings(f"{path}: this file cannot be changed automatically; edit it by hand")


def _tables(text: str, path: Path) -> Settings:
    return parse_settings(text.encode(), path)


def _rest(settings: Settings) -> list[object]:
    return [getattr(settings, field) for field in settings.__struct_fields__ if field != "mcp"]


def _value(value: object) -> str:
    """TOML for the few shapes an entry has; its strings are written like JSON's."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{_value(k)} = {_value(v)}" for k, v in value.items()) + " }"  # pyright: ignore
        case list():
            return "[" + ", ".join(_value(item) for item in value) + "]"  # pyright: ignore
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
