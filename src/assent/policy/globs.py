"""Globs over paths and arguments: `*` within a folder, `**` across folders, `?` one character. Nothing else is special.

Matching follows all possibilities at once, so that no pattern and no text can make it slow.
"""

from functools import lru_cache

ANY, NAME, ONE = "**", "*", "?"


def path_matches(glob: str, path: str) -> bool:
    """Whole paths only: `src/*.py` matches `src/a.py` and not `src/x/a.py`; `src/**` matches everything below."""
    return any(_matches(tokens, path) for tokens in _path_tokens(glob))


def text_matches(glob: str, text: str) -> bool:
    """For arguments that are not paths: `*` matches anything."""
    return _matches(tuple(ANY if char == "*" else char for char in glob), text)


@lru_cache(maxsize=512)
def _path_tokens(glob: str) -> tuple[tuple[str, ...], ...]:
    """`**/x` also matches `x` itself, so a glob that contains it stands for two."""
    head, found, tail = glob.partition("**/")
    if not found:
        return (tuple(_split(glob)),)
    return tuple((*_split(head), *middle, *rest) for rest in _path_tokens(tail) for middle in ((), (ANY, "/")))


def _split(glob: str) -> list[str]:
    parts = glob.split("**")
    tokens: list[str] = list(parts[0])
    for part in parts[1:]:
        tokens += [ANY, *part]
    return tokens


def _matches(tokens: tuple[str, ...], text: str) -> bool:
    states = _skip_stars({0}, tokens)
    for char in text:
        states = _skip_stars({after for state in states for after in _step(state, tokens, char)}, tokens)
    return len(tokens) in states


def _step(state: int, tokens: tuple[str, ...], char: str) -> tuple[int, ...]:
    match tokens[state] if state < len(tokens) else "":
        case "**":
            return (state,)
        case "*":
            return () if char == "/" else (state,)
        case "?":
            return () if char == "/" else (state + 1,)
        case token:
            return (state + 1,) if token == char else ()


def _skip_stars(states: set[int], tokens: tuple[str, ...]) -> set[int]:
    """A star may match nothing."""
    found = set(states)
    for state in states:
        while state < len(tokens) and tokens[state] in (ANY, NAME):
            state += 1
            found.add(state)
    return found
