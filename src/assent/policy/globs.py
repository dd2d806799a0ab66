"""Globs over paths and arguments: `*` within a folder, `**` across folders, `?` one character."""

import re
from functools import lru_cache

_TOKEN = re.compile(r"\*\*/?|\*|\?|[^*?]+")


def path_matches(glob: str, path: str) -> bool:
    """Whole paths only: `src/*.py` matches `src/a.py` and not `src/x/a.py`; `src/**` matches everything below."""
    return _pattern(glob, "[^/]*", "[^/]").fullmatch(path) is not None


def text_matches(glob: str, text: str) -> bool:
    """For arguments that are no paths: `*` matches anything."""
    return _pattern(glob, ".*", ".").fullmatch(text) is not None


@lru_cache(maxsize=512)
def _pattern(glob: str, star: str, one: str) -> re.Pattern[str]:
    return re.compile("".join(_translate(token, star, one) for token in _TOKEN.findall(glob)), re.DOTALL)


def _translate(token: str, star: str, one: str) -> str:
    match token:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return star
        case "?":
            return one
        case text:
            return re.escape(text)
