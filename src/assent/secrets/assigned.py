"""Secrets identified by the name before them: `API_KEY=…`, `"password": "…"`, `--token …`, `Authorization: Bearer …`.

A name alone is not enough: what follows it must look like a value, and not like code, a path, or a word that only
stands for a secret. Upper-case names directly followed by `=` are variables, as in `env` and `.env` files: there any
value counts. A value is read once, whatever names are in it, so the time is linear.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from assent.secrets.outline import Outline, lower
from assent.secrets.secret_words import is_password, key_is_secret, kind_of, variable_is_secret
from assent.secrets.spans import Span
from assent.secrets.values import is_code, is_name, is_path, is_placeholder, is_random

_HINTS = (
    *(
        "key",
        "token",
        "secret",
        "pass",
        "cred",
        "pw",
        "auth",
        "pat",
        "cookie",
        "jwt",
        "psk",
        "_sk",
        "_rk",
        "salt",
        "seed",
    ),
    *("sessid", "session", "webhook", "mnemonic", "otp", "string", "connstr", "bearer"),
)
_MAX_NAME_LENGTH = 64
_OF_NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_PATTERNS = {
    # Searched for in lower case.
    "named": (
        rf"((?:{'|'.join(_HINTS)})(?=([\w-]{{0,24}}))\2)(?:\\{{0,2}}[\"'`])?\]?"
        r"(?::[ \t]{0,2}[a-z_][\w.|\[\]]{0,30}[ \t]{0,2}(?==))?[ \t]{0,20}(=>|:=|[:=])[ \t]{0,20}"
    ),
    # The negative lookbehind comes last: plain text at the beginning is found much faster.
    "flag": r"--(?<![\w-]--)([a-z][a-z-]{0,40})[ \t]{1,4}(?![-=:\s])",
    "bearer": r"bearer(?<!\wbearer)[ \t]{1,4}(?=[\w.~+/=-]{16})",
    # Tried at a position of the text itself; the value is the last group.
    "quoted": r"\\{0,2}([\"'`])([^\"'`\r\n]{1,2000}?)\\{0,2}\1",
    "word": r"(?![\"'`])(\S{1,4000})",
    "bare": r"([^\s\"'`,;&|<>(){}\[\]\\]{1,2000})",
    "credentials": r"\\{0,2}[\"']?(?:(?i:bearer|basic|token|apikey|negotiate)[ \t]{1,4})?([^\s\"'`,;<>\\]{1,4000})",
    "cookie": r"([\w.-]{1,64}=[^\r\n\"']{8,2000})",
    "line": r"([^\r\n\"']{8,2000})",
}
_Reading = tuple[str, Callable[[str], bool]]
"""A pattern for a value, and whether what it finds counts as a secret."""


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Compiled when there is something to look for."""
    return re.compile(_PATTERNS[name], re.ASCII)


def find_assigned(text: str, outline: Outline) -> Iterator[Span]:
    """`outline` is the text's own: names that are not in it are not in the text."""
    words = outline.lower_words
    hinted = any(hint in words for hint in _HINTS)
    named = hinted and (outline.is_short or _names_secret(outline))
    flagged = hinted and "--" in words and (outline.is_short or _flags_secret(outline))
    if named or flagged or "bearer" in words:
        yield from _in_full(text, named=named, flagged=flagged, bearer="bearer" in words)


def _in_full(text: str, *, named: bool, flagged: bool, bearer: bool) -> Iterator[Span]:
    low = lower(text)
    if named:
        yield from _after_names(text, low)
    if flagged:
        yield from _after_flags(text, low)
    if bearer:
        yield from _after_bearer(text, low)


def _names_secret(outline: Outline) -> bool:
    """Whether any name before a value says that it is a secret. Names that overlap all count: which of them are read
    depends on the values.
    """
    text = "\n".join(line for line in outline.text.split("\n") if ":" in line or "=" in line)
    low, at = lower(text), 0
    while found := _pattern("named").search(low, at):
        if _name(text, found)[1]:
            return True
        at = found.start() + 1
    return False


def _flags_secret(outline: Outline) -> bool:
    return any(key_is_secret(found[1]) for found in _pattern("flag").finditer(lower(outline.text)))


def _after_names(text: str, low: str) -> Iterator[Span]:
    at = 0
    while found := _pattern("named").search(low, at):
        value = _read(text, found.end(), *_name(text, found))
        at = value.end
        if value.kind:
            yield value


def _after_flags(text: str, low: str) -> Iterator[Span]:
    for found in _pattern("flag").finditer(low):
        if key_is_secret(found[1]):
            value = _read(text, found.end(), found[1], (("quoted", _is_chosen), ("bare", _is_chosen)))
            if value.kind:
                yield value


def _after_bearer(text: str, low: str) -> Iterator[Span]:
    for found in _pattern("bearer").finditer(low):
        value = _read(text, found.end(), "Authorization", (("credentials", _is_chosen_at_random),))
        if value.kind:
            yield value


def _name(text: str, found: re.Match[str]) -> tuple[str, tuple[_Reading, ...]]:
    """A name in front of a value, and how to read the value; not at all if the name says nothing."""
    start = _beginning(text, found.start())
    name, separator = text[start : found.end(1)], text[found.end(1) : found.end()]
    return name, _readings(name, separator, text[max(start - 1, 0) : start])


def _beginning(text: str, at: int) -> int:
    """Where the name begins that contains a hint at this position."""
    before = text[max(at - _MAX_NAME_LENGTH, 0) : at]
    return at - len(before) + len(before.rstrip(_OF_NAMES))


@lru_cache(1024)
def _readings(name: str, separator: str, before: str) -> tuple[_Reading, ...]:
    """How to read what follows the name; None if the name says nothing."""
    low = name.lower()
    if low.endswith("authorization"):
        return (("credentials", _is_chosen_at_random),)
    if low.endswith("cookie") and ":" in separator:
        return (("line" if "=" in separator else "cookie", _counts),)
    if separator == "=" and name == name.upper() and variable_is_secret(name):
        return ("quoted", _counts), ("bare" if before.strip() else "word", _counts)
    if key_is_secret(name):
        return (("quoted", _is_chosen), ("bare", _is_chosen_at_random)) if is_password(name) else _RANDOM
    return ()


def _read(text: str, at: int, name: str, readings: tuple[_Reading, ...]) -> Span:
    """The value at this position. Without a kind it is not a secret; empty if there is none to read."""
    for pattern, counts in readings:
        if found := _pattern(pattern).match(text, at):
            start, end = found.span(found.re.groups)
            code = text[end : end + 1] in ("(", "[")
            return Span(start, end, kind_of(name) if counts(text[start:end]) and not code else "")
    return Span(at, at, "")


def _counts(value: str) -> bool:
    """An address is not a secret; a password in it is found by its shape."""
    return len(value) >= 4 and not (is_placeholder(value) or is_code(value) or is_path(value) or "://" in value)


def _is_chosen(value: str) -> bool:
    """A password that a person chose may be any word, but it is one word."""
    return len(value) >= 6 and " " not in value and _counts(value)


def _is_chosen_at_random(value: str) -> bool:
    return _counts(value) and is_random(value) and not is_name(value)


def _is_long_and_random(value: str) -> bool:
    return " " not in value and _counts(value) and is_random(value, 12) and not is_name(value)


_RANDOM: tuple[_Reading, ...] = (("quoted", _is_long_and_random), ("bare", _is_long_and_random))
