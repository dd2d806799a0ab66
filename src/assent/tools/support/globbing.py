"""File name patterns as models write them: `*`, `?`, `[a-z]`, `{a,b}` and `**` for any number of folders.

It does not access the file system.
"""

import re
from collections.abc import Callable

_ALTERNATIVES = 64


def matcher(pattern: str, *, case_sensitive: bool = False) -> Callable[[str], bool]:
    """Matches a path with `/` as separator, relative to the folder that is searched. Raises re.error."""
    flags = re.DOTALL if case_sensitive else re.DOTALL | re.IGNORECASE
    expressions = [_translate(each.removeprefix("./")) for each in _alternatives(pattern)]
    compiled = re.compile("|".join(f"(?:{expression})" for expression in expressions), flags)
    return lambda path: compiled.fullmatch(path) is not None


def _alternatives(pattern: str) -> list[str]:
    """`{a,b}` expanded; an unmatched brace is an ordinary character."""
    done: list[str] = []
    open_ones = [pattern]
    while open_ones and len(done) + len(open_ones) <= _ALTERNATIVES:
        each = open_ones.pop(0)
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", each)
        if braces is None:
            done.append(each)
        else:
            open_ones += [each[: braces.start()] + part + each[braces.end() :] for part in braces[1].split(",")]
    return done + open_ones


_TOKEN = re.compile(r"(?P<deep>(?:^|(?<=/))\*\*(?:/\*\*)*(?:/|$))|(?P<star>\*+)|(?P<one>\?)|(?P<set>\[!?\]?[^\]/]*\])")


def _translate(pattern: str) -> str:
    out: list[str] = []
    at = 0
    for token in _TOKEN.finditer(pattern):
        out.append(re.escape(pattern[at : token.start()]))
        out.append(_expression(token))
        at = token.end()
    return "".join([*out, re.escape(pattern[at:])])


def _expression(token: "re.Match[str]") -> str:
    match token.lastgroup:
        case "deep":
            return "(?:[^/]+/)*" if token[0].endswith("/") else ".+"
        case "star":
            return "[^/]*"
        case "one":
            return "[^/]"
        case _:
            inner = token[0][1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&\\&")
            negated = inner.startswith("!")
            inner = inner[1:] if negated else inner.replace("^", "\\^", 1) if inner.startswith("^") else inner
            return f"[{'^/' if negated else ''}{inner.replace(']', chr(92) + ']')}]"
