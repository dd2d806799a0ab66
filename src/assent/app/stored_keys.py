"""Keys that a person has stored: in the settings, in the system's keyring, or in a private file.

`keys.json` in the data folder records where `assent login` has stored each provider's key, so Assent asks the keyring
only for keys that are there. A key is looked up when it is needed, and never logged.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assent.config import KeyReference, Settings, data_folder, key_command, settings_file
from assent.files.private_folder import save_private
from assent.files.regular_file import NotPlain, read_plain
from assent.models.model_protocol import AuthFailed

Place = Literal["keyring", "file"]
UNUSABLE = (OSError, NotPlain, msgspec.MsgspecError, UnicodeDecodeError)
"""What reading a file of keys can raise."""


class _Entry(Struct, frozen=True, omit_defaults=True):
    """The key itself, or empty if the keyring has it."""

    key: str = ""


class StoredKeys:
    def __init__(self, env: Mapping[str, str], settings: Settings) -> None:
        self._env = env
        self._settings = settings
        self._file = data_folder(env) / "keys.json"
        self._fetched: dict[str, str] = {}
        """Keys from commands and the keyring, which are slow."""
        self._fetched_at = 0
        """The version of the file when they were looked up: a login or logout makes them stale."""

    # --- lookup ---

    def has(self, provider: str) -> bool:
        """Whether there is a key, without looking it up."""
        return provider in self._settings.keys or provider in self._stored()

    def find(self, provider: str) -> str:
        """Empty if there is none. Raises AuthFailed if the key cannot be read."""
        match self._settings.keys.get(provider):
            case str(key):
                return key.strip()
            case KeyReference() as reference:
                return self._fetch(provider, reference)
            case None:
                return self._from_login(provider)

    def is_renewable(self, provider: str) -> bool:
        """Whether a command provides it, so that it can be asked for another one."""
        match self._settings.keys.get(provider):
            case KeyReference(keyring=""):
                return True
            case _:
                return False

    def drop(self, provider: str) -> None:
        """Looks this key up again the next time it is needed: the provider refused it."""
        self._fetched.pop(provider, None)

    def known(self) -> dict[str, str]:
        """All keys that are known without running a command or asking the keyring, by a name to show."""
        written = {name: key for name, key in self._settings.keys.items() if isinstance(key, str)}
        in_file = {name: entry.key for name, entry in self._stored().items() if entry.key}
        return {key: f"key of {name}" for name, key in (in_file | written | self._fetched).items()}

    def damage(self) -> str:
        """Why the keys of `assent login` cannot be read, and what to do; empty if they can."""
        try:
            self._read()
        except UNUSABLE:
            return f"{self._file} is damaged or cannot be read, so its keys are lost: run `assent login` again."
        return ""

    def warnings(self) -> Iterator[str]:
        """What is wrong with how the keys are stored."""
        if damage := self.damage():
            yield damage
        path = settings_file(self._env)
        if any(isinstance(key, str) for key in self._settings.keys.values()) and _is_readable_by_others(path):
            yield f"{path} contains keys and can be read by other users: chmod 600 {path}"
        if _is_readable_by_others(self._file):
            yield f"{self._file} can be read by other users: chmod 600 {self._file}"

    def _fetch(self, provider: str, reference: KeyReference) -> str:
        self._drop_stale()
        if provider not in self._fetched:
            self._fetched[provider] = self._looked_up(provider, reference)
        return self._fetched[provider]

    def _looked_up(self, provider: str, reference: KeyReference) -> str:
        if reference.keyring:
            service, _, user = reference.keyring.rpartition("/")
            return self._from_keyring(provider, service, user)
        from assent.process.environment import command_environment
        from assent.process.key_command import KeyCommandFailed, key_from_command

        try:
            return key_from_command(key_command(reference), command_environment(self._settings.environment, self._env))
        except KeyCommandFailed as error:
            raise AuthFailed(f"The key of {provider}: {error}. See [keys] in {settings_file(self._env)}") from error

    def _from_login(self, provider: str) -> str:
        entry = self._stored().get(provider)
        if entry is None or entry.key:
            return entry.key if entry is not None else ""
        self._drop_stale()
        if provider not in self._fetched:
            from assent.app.system_keyring import SERVICE

            self._fetched[provider] = self._from_keyring(provider, SERVICE, provider)
        return self._fetched[provider]

    def _from_keyring(self, provider: str, service: str, user: str) -> str:
        from assent.app.system_keyring import KeyringFailed, read_entry

        try:
            key = read_entry(service, user).strip()
        except KeyringFailed as error:
            raise AuthFailed(f"The key of {provider}: {error}") from error
        if not key:
            raise AuthFailed(f"The keyring no longer has the key of {provider}. Run `assent login {provider}`.")
        return key

    def _drop_stale(self) -> None:
        try:
            version = self._file.stat().st_mtime_ns
        except OSError:
            version = 0
        if version != self._fetched_at:
            self._fetched_at = version
            self._fetched.clear()

    def _stored(self) -> dict[str, _Entry]:
        try:
            return self._read()
        except UNUSABLE:
            return {}  # the next login replaces it

    def _read(self) -> dict[str, _Entry]:
        """Raises one of UNUSABLE."""
        try:
            return msgspec.json.decode(read_plain(self._file), type=dict[str, _Entry])
        except (FileNotFoundError, NotADirectoryError):
            return {}

    # --- changes ---

    def store(self, provider: str, key: str) -> Place:
        """Store a key, in the keyring if there is one. Returns where it is stored."""
        from assent.app.system_keyring import SERVICE, KeyringFailed, has_keyring, write_entry

        place: Place = "keyring" if has_keyring() else "file"
        if place == "keyring":
            try:
                write_entry(SERVICE, provider, key)
            except KeyringFailed:
                place = "file"  # locked, and nobody can unlock it
        self._save(self._stored() | {provider: _Entry("" if place == "keyring" else key)})
        return place

    def forget(self, provider: str) -> bool:
        """Remove a key that `store` stored; false if there is none. Raises AuthFailed if the keyring fails."""
        stored = self._stored()
        entry = stored.pop(provider, None)
        if entry is None:
            return False
        if not entry.key:
            from assent.app.system_keyring import SERVICE, KeyringFailed, delete_entry

            try:
                delete_entry(SERVICE, provider)
            except KeyringFailed as error:
                raise AuthFailed(f"The key of {provider}: {error}") from error
        self._save(stored)
        return True

    def stored_providers(self) -> tuple[str, ...]:
        """The providers whose keys `assent login` has stored."""
        return tuple(self._stored())

    @property
    def file(self) -> Path:
        return self._file

    def _save(self, entries: Mapping[str, _Entry]) -> None:
        save_private(self._file, msgspec.json.format(msgspec.json.encode(entries)))


def _is_readable_by_others(path: Path) -> bool:
    try:
        return bool(os.stat(path).st_mode & 0o077)
    except OSError:
        return False
