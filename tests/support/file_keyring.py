"""A keyring in a plain file, chosen by PYTHON_KEYRING_BACKEND; the file is named by TEST_KEYRING."""

import os
from pathlib import Path

import msgspec
from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    priority = 1.0  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride, reportIncompatibleVariableOverride, reportUnannotatedClassAttribute]

    @property
    def _path(self) -> Path:
        return Path(os.environ["TEST_KEYRING"])

    def _entries(self) -> dict[str, str]:
        return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str]) if self._path.exists() else {}

    def _save(self, entries: dict[str, str]) -> None:
        self._path.write_bytes(msgspec.json.encode(entries))

    def get_password(self, service: str, username: str) -> str | None:
        return self._entries().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._save(self._entries() | {f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = self._entries()
        del entries[f"{service}/{username}"]
        self._save(entries)
