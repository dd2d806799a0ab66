"""Which files people have approved for execution, with which content, in a file of Assent's own.

A yes to a command covers the files that it executes as they were shown. The record outlives the session, so that the
next question names only what is new or has changed. Knows no command.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assent.approval import UnapprovedFile
from assent.files.private_folder import save_private
from assent.plan import ExecutedFile
from assent.safe_open import content_digest, read_regular

MAX_APPROVED = 10_000
"""The oldest ones are forgotten: then they are new."""
_OF_THE_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/etc/", "/nix/", "/snap/", "/System/")
"""Installed with the help of root, and not part of a project."""


class ApprovedFiles:
    def __init__(self, store: Path, folder: str) -> None:
        self._store = store
        self._folder = folder

    def look(self, candidates: Sequence[tuple[str, ...]]) -> tuple[ExecutedFile, ...]:
        """For each of the alternatives the first that is a file."""
        found: dict[str, ExecutedFile] = {}
        for alternatives in candidates:
            path = next((path for path in alternatives if os.path.lexists(path) and not os.path.isdir(path)), None)
            if path is None or path in found or self._is_of_the_system(path):
                continue
            if (digest := content_digest(path)) is not None:
                found[path] = ExecutedFile(path, digest)
        return tuple(found.values())

    def unapproved(self, files: Sequence[ExecutedFile]) -> tuple[UnapprovedFile, ...]:
        known = self._load() if files else {}
        return tuple(
            UnapprovedFile(self._shown(file.path), file.path in known)
            for file in files
            if not file.sha256 or known.get(file.path) != file.sha256
        )

    def approve(self, files: Sequence[ExecutedFile]) -> None:
        known = self._load() if files else {}
        news = {file.path: file.sha256 for file in files if file.sha256}
        if not news.items() <= known.items():
            kept = {path: digest for path, digest in known.items() if path not in news} | news
            save_private(self._store, msgspec.json.encode(dict(list(kept.items())[-MAX_APPROVED:])))

    def _load(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(read_regular(self._store, limit=100_000_000), type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return {}  # nothing can be read, so nothing was approved

    def _is_of_the_system(self, path: str) -> bool:
        return os.path.realpath(path).startswith(_OF_THE_SYSTEM) and not self._is_inside(os.path.realpath(path))

    def _is_inside(self, path: str) -> bool:
        return path.startswith(self._folder.rstrip("/") + "/")

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._folder) if self._is_inside(path) else path
