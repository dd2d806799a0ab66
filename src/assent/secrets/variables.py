"""Which variables of an environment hold a secret, and the values to search for elsewhere."""

from collections.abc import Callable, Iterable
from urllib.parse import quote

from assent.secrets.outline import Outline
from assent.secrets.private_keys import find_private_keys
from assent.secrets.secret_words import variable_is_secret
from assent.secrets.spans import Span
from assent.secrets.token_shapes import find_tokens


def holds_secret(name: str, value: str) -> bool:
    """By its name, or by the shape of its value. A proxy is needed for nearly everything, password or not."""
    return variable_is_secret(name) or (bool(_inside(value)) and not name.lower().endswith("_proxy"))


def known_values(variables: Iterable[tuple[str, str]], named: Callable[[str], bool] | None = None) -> dict[str, str]:
    """What to search for in texts, with labels: whole values if the name indicates a secret or is one of the `named`,
    otherwise the secret part of an address; in all common notations.
    """
    return {
        written: f"${name}"
        for name, value in variables
        for secret in _secrets(value, whole=variable_is_secret(name) or (named is not None and named(name)))
        for written in (secret, quote(secret, safe=""))
    }


def _secrets(value: str, *, whole: bool) -> list[str]:
    """Each line of a multi-line value: terminals end lines in their own way."""
    return value.strip().splitlines() if whole else _parts(value)


def _parts(value: str) -> list[str]:
    return [value[span.start : span.end] for span in _inside(value)]


def _inside(value: str) -> list[Span]:
    return [*find_tokens(value, Outline(value)), *find_private_keys(value)]
