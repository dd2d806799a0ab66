"""Trust in a folder: none of its configuration takes effect before the person has seen and trusted it.

Trust is bound to content: it records every configuration file, and every context file that the model would see, with
its hash. A changed, new or removed file is not trusted until the person looks again. Until then, a folder's rules can
only tighten, and its context files are left out.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.files.context_reader import find_context, folders_below
from assent.files.private_folder import save_private
from assent.files.regular_file import NotPlain, read_plain
from assent.safe_open import NotRegular, read_regular

CONFIG_FOLDER = ".assent"
UNTRUSTABLE = "not a regular file"


class Trust(Struct, frozen=True):
    """`changed` names the files that differ from the trusted ones."""

    state: Literal["nothing", "untrusted", "trusted", "changed"]
    files: dict[str, str]
    """Every current configuration and context file, with its hash."""
    changed: tuple[str, ...] = ()


class TrustStore:
    """Which folders are trusted, with which content. The file belongs to the user and is outside every workspace."""

    def __init__(self, path: Path, home: str = "") -> None:
        """`home`: context files above this folder do not count."""
        self._path = path
        self._home = home

    def look(self, folder: Path) -> Trust:
        now = {**dict(_config_files(folder)), **dict(self._context_files(folder))}
        return _compared(now, self._of(folder))

    def rules(self, folder: Path) -> Trust:
        """Configuration only: a changed context file does not revoke the trust in rules."""
        then = self._of(folder)
        config = None if then is None else {name: then[name] for name in then if _is_config(name)}
        return _compared(dict(_config_files(folder)), config)

    def trusted(self, folder: Path) -> dict[str, str]:
        """What was trusted: paths relative to the folder, with the hash of the content that was seen."""
        return self._of(folder) or {}

    def trust(self, folder: Path, seen: Trust) -> None:
        """Trust exactly what was seen; later changes are not covered."""
        self._save(self._load() | {str(folder): seen.files})

    def forget(self, folder: Path) -> None:
        self._save({name: files for name, files in self._load().items() if name != str(folder)})

    def _of(self, folder: Path) -> dict[str, str] | None:
        return self._load().get(str(folder))

    def _context_files(self, folder: Path) -> Iterator[tuple[str, str]]:
        """Including those of the folders above and below, because the model may see them here. Unreadable files are
        left out.
        """
        for file in find_context(str(folder), self._home, folders_below(str(folder))):
            if not file.problem:
                yield os.path.relpath(file.path, folder), file.digest

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            return msgspec.json.decode(read_regular(self._path, limit=100_000_000), type=dict[str, dict[str, str]])
        except (FileNotFoundError, NotRegular, msgspec.MsgspecError):
            return {}  # nothing can be read, so nothing is trusted

    def _save(self, trusted: dict[str, dict[str, str]]) -> None:
        save_private(self._path, msgspec.json.encode(trusted))


def _is_config(name: str) -> bool:
    return name.partition("/")[0] == CONFIG_FOLDER


def _compared(now: dict[str, str], then: dict[str, str] | None) -> Trust:
    if not now:
        return Trust("nothing", {})
    if then is None or UNTRUSTABLE in now.values():
        return Trust("untrusted", now)
    changed = tuple(sorted(name for name in {*now, *then} if now.get(name) != then.get(name)))
    return Trust("changed" if changed else "trusted", now, changed)


def _config_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Files below `.assent`. A file that is not a regular file has no content to trust."""
    base = folder / CONFIG_FOLDER
    if base.is_symlink():
        yield CONFIG_FOLDER, UNTRUSTABLE
        return
    for path in sorted(base.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink() or not path.is_dir():
            yield name, _hash(path)


def _hash(path: Path) -> str:
    import hashlib

    try:
        return hashlib.sha256(read_plain(path)).hexdigest()
    except (NotPlain, FileNotFoundError):
        return UNTRUSTABLE
