"""What the name of a variable, key, header or option says about its value.

Names are split into words: `GEMINI_API_KEY`, `clientSecret` and `x-api-key` indicate a secret; `AUTHOR`,
`TOKENIZERS_PARALLELISM` and `KEYBOARD` do not.
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
        "passcode",
        "passkey",
        "credential",
        "credentials",
        "cred",
        "creds",
        "psk",
        "jwt",
        "dsn",
        "mnemonic",
    )
)
_LAST = frozenset(
    (
        "pass",
        "pwd",
        "pw",
        "pat",
        "pin",
        "otp",
        "sk",
        "rk",
        "sas",
        "seed",
        "headers",
    )
)
"""They count at the end of a name, and not alone: `DB_PW`, `STRIPE_SK` and `OTEL_EXPORTER_OTLP_HEADERS`, but not `PWD`
and `PAT`.
"""
_LAST_OR_ALONE = frozenset(
    (
        "auth",
        "oauth",
        "bearer",
        "cookie",
        "cookies",
        "salt",
        "webhook",
    )
)
_PAIRS = frozenset(
    (("connection", "string"), ("conn", "str"), ("conn", "string"), ("seed", "phrase"), ("auth", "config"))
)
_PAIRS_FOR_WEB = frozenset((("webhook", "url"), ("webhook", "uri"), ("kubeconfig", "data")))
_JOINED = (
    *("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"),
    *("authkey", "accountkey", "masterkey", "sessionid", "sessid", "connectionstring", "connstr"),
)
_OWNED = re.compile(r"(?:admin|root|user|db|database|sql|my|pg|smtp|mail|imap|ftp|ssh|login|store)(?:pass|pwd|pw)")
_ABOUT = frozenset(
    (
        "count",
        "limit",
        "dir",
        "directory",
        "file",
        "path",
        "name",
        "length",
        "repeat",
        "date",
        "domain",
        "host",
        "port",
        "issuer",
        "algorithm",
        "alg",
        "enabled",
        "timeout",
        "provider",
        "type",
        "ttl",
        "helper",
        "prefix",
        "suffix",
        "version",
        "size",
        "min",
        "max",
        "expiry",
        "expires",
        "endpoint",
        "policy",
    )
)
"""Endings of names that are about a secret but do not hold it: `TOKEN_LIMIT`, `PASSWORD_FILE`."""
_OTHER_SEEDS = frozenset(
    (
        "random",
        "hash",
        "test",
        "tests",
        "pytest",
        "rng",
        "np",
        "numpy",
        "torch",
        "data",
        "db",
        "run",
        "shuffle",
    )
)
_PUBLIC = frozenset(("public", "pub", "publishable"))
_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "secret", "pwd", "pw", "_pass")
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
"""A `key` in a text is one of these: others sort, cache, or are on a keyboard."""
_IN_TEXT = _ANYWHERE - {"keys", "dsn", "mnemonic"}


def words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def variable_is_secret(name: str) -> bool:
    """For an environment variable: one too many rather than too few, because a person can name what to pass on."""
    said = words(name)
    if not said or _PUBLIC.intersection(said) or said[-1] in _ABOUT:
        return False
    if any(word in _ANYWHERE or word.endswith(_JOINED) or _OWNED.fullmatch(word) for word in said):
        return True
    return _ends_secret(said)


def _ends_secret(said: tuple[str, ...]) -> bool:
    if said[-2:] in _PAIRS | _PAIRS_FOR_WEB or said[-1] in _LAST_OR_ALONE:
        return True
    return len(said) > 1 and said[-1] in _LAST and not (said[-1] == "seed" and _OTHER_SEEDS.intersection(said))


@lru_cache(1024)
def key_is_secret(name: str) -> bool:
    """For a name in a text that is followed by a value: one too few rather than too many, because code is full of keys
    and tokens.
    """
    said = words(name)
    if not said or _PUBLIC.intersection(said):
        return False
    if said[-1] == "key":
        return len(said) > 1 and said[-2] in _KEYS
    if said[-1] in _IN_TEXT or said[-1].endswith(_JOINED) or said[-2:] in _PAIRS:
        return True
    return len(said) > 1 and said[-1] in ("pass", "pwd", "pw", "sk")


def kind_of(name: str) -> str:
    """A label for the value. Never the name itself: it may contain anything."""
    low = name.lower()
    return next((kind for kind in ("password", "token", "secret", "key", "cookie") if kind in low), "credentials")


def is_password(name: str) -> bool:
    """Whether a person chose its value, so that it may look like any word."""
    said = words(name)
    return bool(said) and f"_{said[-1]}".endswith(_PASSWORDS)
