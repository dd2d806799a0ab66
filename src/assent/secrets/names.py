"""What the name of a variable, key, header or option says about its value.

Names are read as words: `GEMINI_API_KEY`, `clientSecret` and `x-api-key` say it, `AUTHOR`, `TOKENIZERS_PARALLELISM`
and `KEYBOARD` do not.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ANYWHERE = frozenset(
    (
        "key",
        "keys",
        "token",
        "secret",
        "secrets",
        "password",
        "passwords",
        "passwd",
        "passphrase",
        "credential",
        "credentials",
        "cred",
        "creds",
    )
)
_LAST = frozenset(("pass", "pwd", "auth", "pat"))
_JOINED = (
    *("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"),
    *("authkey", "accountkey", "masterkey"),
)
_PUBLIC = frozenset(("public", "pub", "publishable"))
_PASSWORDS = ("password", "passwd", "passphrase", "secret", "pwd")
_KEYS = frozenset(
    (
        *(
            "api",
            "secret",
            "access",
            "private",
            "encryption",
            "signing",
            "auth",
            "account",
            "master",
            "shared",
            "client",
        ),
        *("service", "session", "storage", "subscription", "hmac", "jwt", "aes", "webhook", "deploy", "admin", "app"),
    )
)
"""A `key` in a text is one of these: others sort, cache, or lie on a keyboard."""


def words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def variable_is_secret(name: str) -> bool:
    """For a variable of the environment: rather one too many, since a person can name what they want to pass on."""
    said = words(name)
    if not said or _PUBLIC.intersection(said):
        return False
    if any(word in _ANYWHERE or word.endswith(_JOINED) for word in said):
        return True
    return len(said) > 1 and said[-1] in _LAST


@lru_cache(1024)
def key_is_secret(name: str) -> bool:
    """For a name in a text that has a value behind it: rather one too few, since code is full of keys and tokens."""
    said = words(name)
    if not said or _PUBLIC.intersection(said):
        return False
    if said[-1] == "key":
        return len(said) > 1 and said[-2] in _KEYS
    return said[-1] in _ANYWHERE - {"keys"} or said[-1].endswith(_JOINED) or said[1:][-1:] in (("pass",), ("pwd",))


def kind_of(name: str) -> str:
    """What to call the value. Never the name itself: who knows what else is in it."""
    low = name.lower()
    return next((kind for kind in ("password", "token", "secret", "key", "cookie") if kind in low), "credentials")


def is_password(name: str) -> bool:
    """A person chose its value, so it may look like any word."""
    said = words(name)
    return bool(said) and said[-1].endswith(_PASSWORDS)
