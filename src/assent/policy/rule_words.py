"""Whether a rule about commands or paths can ever match, and what to write instead.

A rule that silently matches nothing would protect or allow nothing. Knows spelling only.
"""

import re

_SYSTEM_FOLDER = r"/(?:usr/(?:local/)?)?s?bin/([^/]+)|/opt/homebrew/bin/([^/]+)"
_ASSIGNMENT = r"[A-Za-z_]\w*\+?=.*"
_QUOTED = "\"'`\\"
_DETOUR = r"(?:^|/)\.{1,2}(?:/|$)|//"
_JOINED = ";|&<>()"


def why_never(words: tuple[str, ...]) -> str | None:
    """Why no command can begin with these words, with a spelling that works; None if one can."""
    first, rest, all_words = words[0], " ".join(words[1:]), " ".join(words)
    if (folder := re.fullmatch(_SYSTEM_FOLDER, first)) is not None:
        name = next(group for group in folder.groups() if group)
        plain = f"{name} {rest}".strip()
        return f"{first!r} never matches, because system programs are matched by name: write {plain!r}"
    if re.fullmatch(_ASSIGNMENT, first):
        return f"{first!r} never matches, because variables are not part of the words: write {rest or 'a program'!r}"
    if first.startswith("-"):
        return f"{first!r} is an option: put the program before it"
    if not set(_QUOTED).isdisjoint("".join(words)):
        return f"{all_words!r} never matches: write the words without quotes and backslashes"
    if any(word == "*" or word.endswith(":*") for word in words):
        plain = " ".join(word for word in words if not word.endswith("*")) or "a program"
        return f"{all_words!r} never matches: a rule also covers what follows its words, so write {plain!r}"
    return None


def why_several(words: tuple[str, ...]) -> str | None:
    """Why these are not the words of one command."""
    if not set(_JOINED).isdisjoint("".join(words)):
        return f"{' '.join(words)!r} never matches, because a rule covers one command: write a list of commands"
    return None


def why_no_path(glob: str) -> str | None:
    """Why no file has such a path: paths are compared in normalized form."""
    if glob.startswith("~"):
        return f"{glob!r} never matches, because `~` is not expanded: write the full path"
    if re.search(_DETOUR, glob.removeprefix("./")):
        return f"{glob!r} never matches: write it without `..`, `.` and double `/`"
    return None
