"""The system's keyring, through the optional package `keyring`. Imported only when a key is kept there."""

from typing import Any

SERVICE = "assent"


class KeyringFailed(Exception):
    """The keyring is missing, locked or refuses; the message says which."""


def has_keyring() -> bool:
    """Whether there is one that can keep something."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return False
    backend = keyring.get_keyring()
    return not isinstance(backend, fail.Keyring | null.Keyring) and not _is_empty_chain(backend)


def _is_empty_chain(backend: Any) -> bool:
    """The chain of all backends exists even where none of them works."""
    return not getattr(backend, "backends", (backend,))


def read_entry(service: str, user: str) -> str:
    """Empty if there is no such entry. Raises KeyringFailed."""
    return _ask("get_password", service, user) or ""


def write_entry(service: str, user: str, key: str) -> None:
    """Raises KeyringFailed."""
    _ask("set_password", service, user, key)


def delete_entry(service: str, user: str) -> None:
    """Raises KeyringFailed; an entry that is gone already is fine."""
    if read_entry(service, user):
        _ask("delete_password", service, user)


def _ask(method: str, *args: str) -> Any:
    try:
        import keyring
    except ImportError as error:
        raise KeyringFailed("the package `keyring` is not installed: pip install 'assent[keyring]'") from error
    try:
        return getattr(keyring, method)(*args)
    except Exception as error:  # backends raise what they like
        raise KeyringFailed(f"the keyring refuses: {type(error).__name__}: {error}") from error
