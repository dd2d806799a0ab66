"""Whether a value can be a secret at all: not a word that stands for one, not code, not a path."""

import re
from functools import cache

_STAND_INS = """
    password passwd pass pwd passphrase secret token key apikey api_key value string str text none null nil undefined
    true false yes no on off required optional example changeme change_me test redacted removed hidden masked
    placeholder todo fixme bearer basic unset empty default username user login name bytes bool int
"""
_BEGINNINGS = (
    "$",
    "<",
    "{",
    "%(",
    "%{",
    "[secret",
    "***",
    "•••",
    "...",
    "xxx",
    "your_",
    "your-",
    "my_",
    "&",
    "!vault",
    "@",
)
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[(\[]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Z][A-Z_]*\Z")
"""A call, an element, a dotted name, or an upper-case name."""
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?(?:/[\w.@ -]{1,40})+/?")
_LONG = 20


@cache
def _stand_ins() -> frozenset[str]:
    return frozenset(_STAND_INS.split())


def is_placeholder(value: str) -> bool:
    low = value.strip("\"'`").lower()
    return low in _stand_ins() or low.startswith(_BEGINNINGS) or len(set(low)) < 3


def is_code(value: str) -> bool:
    return _CODE.match(value) is not None


def is_name(value: str) -> bool:
    """A variable's value, in several words."""
    return _NAME.fullmatch(value) is not None


def is_path(value: str) -> bool:
    return _PATH.fullmatch(value) is not None


def is_random(value: str, least: int = 8) -> bool:
    """Letters with digits, or plenty of both cases: not a word of a language, not a name in a program."""
    if len(value) < least:
        return False
    digits = sum(character.isdigit() for character in value)
    if digits and digits < len(value):
        return True
    mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
    return mixed and len(value) >= _LONG and not any(character in value for character in " _.")


def is_distinct(value: str) -> bool:
    """Nobody writes it by chance, so it can be searched for everywhere. `postgres` may be a password, but is a word."""
    if len(value) < 8 or is_placeholder(value) or is_path(value):
        return False
    letters = any(map(str.islower, value)) + any(map(str.isupper, value))
    varied = letters + any(map(str.isdigit, value)) + (not value.isalnum()) > 1
    return (varied and not value.isdigit()) or len(value) >= _LONG


def is_word_for_secret(value: str) -> bool:
    """Enough for the value of a key such as `password`, in data rather than in text."""
    return len(value) >= 6 and " " not in value and not (is_placeholder(value) or is_path(value))
