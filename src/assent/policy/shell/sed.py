"""Parses a sed script far enough to know that it only prints.

An allow-list of commands: `e` runs programs, `w` writes and `r` reads files, so these, and everything unknown, are
refused. Knows nothing but sed.
"""

import re

from assent.lazy_pattern import lazy_pattern

_ADDRESS = lazy_pattern(r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)")
_RANGE = lazy_pattern(rf"{_ADDRESS.pattern}(?:\s*,\s*(?:[+~]\d+|{_ADDRESS.pattern}))?")
_GAP = lazy_pattern(r"[ \t\n;]*")
_SIMPLE = lazy_pattern(r"[pdDPgGhHxnN=lFz](?=[ \t]*(?:[;}\n]|$))|[qQ][ \t]*\d*(?=[ \t]*(?:[;}\n]|$))")
_JUMP = lazy_pattern(r"(?::[ \t]*|[btT][ \t]*)[A-Za-z0-9_]*(?=[ \t]*(?:[;}\n]|$))")
_TEXT = lazy_pattern(r"[aic](?:\\\n|[ \t]+)?[^\n\\]*(?=\n|$)")
_FLAGS = lazy_pattern(r"[gpiIM0-9]*(?=[ \t]*(?:[;}\n#]|$))")
_TRANSFORM_END = lazy_pattern(r"(?=[ \t]*(?:[;}\n]|$))")


def harmful_sed(script: str) -> str | None:
    """Why the script may do more than print, or None."""
    at = 0
    depth = 0
    while (at := _skip(_GAP, script, at)) < len(script):
        if script[at] == "}":
            depth, at = depth - 1, at + 1
            continue
        at = _skip(_RANGE, script, at)
        at = _skip(lazy_pattern(r"[ \t]*!?[ \t]*"), script, at)
        if script[at : at + 1] == "{":
            depth, at = depth + 1, at + 1
            continue
        end = _command(script, at)
        if end is None:
            return "the sed script contains a command that may do more than print"
        at = end
    return None if depth == 0 else "the sed script is incomplete"


def _skip(pattern: re.Pattern[str], script: str, at: int) -> int:
    match = pattern.match(script, at)
    return match.end() if match else at


def _command(script: str, at: int) -> int | None:
    """The end of the harmless command at this place."""
    match script[at : at + 1]:
        case "s":
            return _delimited(script, at + 1, _FLAGS)
        case "y":
            return _delimited(script, at + 1, _TRANSFORM_END)
        case "a" | "i" | "c":
            found = _TEXT.match(script, at)
        case ":" | "b" | "t" | "T":
            found = _JUMP.match(script, at)
        case _:
            found = _SIMPLE.match(script, at)
    return found.end() if found else None


def _delimited(script: str, at: int, ending: re.Pattern[str]) -> int | None:
    """`/pattern/text/flags` with any delimiter."""
    delimiter = script[at : at + 1]
    if delimiter.isalnum() or delimiter in "\\\n \t":  # the empty string is in every other
        return None
    at += 1
    for _ in range(2):
        stop = _closing(script, at, delimiter)
        if stop is None:
            return None
        at = stop + 1
    match = ending.match(script, at)
    return match.end() if match else None


def _closing(script: str, at: int, delimiter: str) -> int | None:
    start = at
    while at < len(script) and script[at] != delimiter:
        at += 2 if script[at] == "\\" else 1
    if at >= len(script) or ("[" in script[start:at] and "]" not in script[start:at]):
        return None  # the delimiter is inside a bracket, where programs disagree
    return at
