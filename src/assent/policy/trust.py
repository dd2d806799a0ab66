"""Trust in a folder: nothing of its configuration takes effect before the person has seen and trusted it.

Trust is bound to content: it names every configuration file with its hash. A changed, new or removed file is not
trusted until the person has looked again. Until then a folder's rules may only tighten.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.files.plain import NotPlain, read_plain
from assent.files.private import save_private

CONFIG_FOLDER = ".assent"
UNTRUSTABLE = "no ordinary file"


class Trust(Struct, frozen=True):
    """`changed` names the files that differ from what was trusted."""

    state: Literal["nothing", "untrusted", "trusted", "changed"]
    files: dict[str, str]
    """Every configuration file there is now, with its hash."""
    changed: tuple[str, ...] = ()


class TrustStore:
    """Which folders are trusted, with which content. The file is the user's own, outside every workspace."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def look(self, folder: Path) -> Trust:
        now = dict(_config_files(folder))
        then = self._load().get(str(folder))
        if not now:
            return Trust("nothing", {})
        if then is None or UNTRUSTABLE in now.values():
            return Trust("untrusted", now)
        changed = tuple(sorted(name for name in {*now, *then} if now.get(name) != then.get(name)))
        return Trust("changed" if changed else "trusted", now, changed)

    def trust(self, folder: Path, seen: Trust) -> None:
        """Trusts exactly what was seen; what has changed since is not covered."""
        self._save(self._load() | {str(folder): seen.files})

    def forget(self, folder: Path) -> None:
        self._save({name: files for name, files in self._load().items() if name != str(folder)})

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, str]])
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}  # nothing can be read, so nothing is trusted

    def _save(self, trusted: dict[str, dict[str, str]]) -> None:
        save_private(self._path, msgspec.json.encode(trusted))


def _config_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Files below `.assent`. What is no ordinary file has no content that could be trusted."""
    base = folder / CONFIG_FOLDER
    if base.is_symlink():
        yield CONFIG_FOLDER, UNTRUSTABLE
        return
    for path in sorted(base.rglob("*")) if base.is_dir() else ():
        name = str(path.relative_to(folder))
        if path.is_symlink() or not path.is_dir():
            yield name, _hash(path)


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(read_plain(path)).hexdigest()
    except (NotPlain, FileNotFoundError):
        return UNTRUSTABLE
