"""The system's keyring, through the optional package `keyring`. Imported only if a key is stored there."""

from typing import Any

SERVICE = "assent"


class KeyringFailed(Exception):
    """The keyring is missing, locked or fails; the message says which."""


def has_keyring() -> bool:
    """Whether there is a keyring that can store something."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return False
    backend = keyring.get_keyring()
    return not isinstance(backend, fail.Keyring | null.Keyring) and not _is_empty_chain(backend)


def _is_empty_chain(backend: Any) -> bool:
    """The chain of all backends exists even if none of them works."""
    return not getattr(backend, "backends", (backend,))


def read_entry(service: str, user: str) -> str:
    """Empty if there is no such entry. Raises KeyringFailed."""
    return _ask("get_password", service, user) or ""


def write_entry(service: str, user: str, key: str) -> None:
    """Raises KeyringFailed."""
    _ask("set_password", service, user, key)


def delete_entry(service: str, user: str) -> None:
    """Raises KeyringFailed, but not if there is no such entry."""
    if read_entry(service, user):
        _ask("delete_password", service, user)


def _ask(method: str, *args: str) -> Any:
    try:
        import keyring
    except ImportError as error:
        raise KeyringFailed("the package `keyring` is not installed: pip install 'assent[keyring]'") from error
    try:
        return getattr(keyring, method)(*args)
    except Exception as error:  # backends raise arbitrary exceptions
        raise KeyringFailed(f"the keyring failed: {type(error).__name__}: {error}") from error
