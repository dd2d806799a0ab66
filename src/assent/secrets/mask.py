"""A text with marks in place of its secrets: `[secret: GitHub token]`, `[secret: $DEPLOY_KEY]`. A mark is not a secret.

The search is imported with the first text: most callers have nothing to mask.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from assent.secrets.spans import Span
    from assent.secrets.stream_masking import MaskedStream

OPENING = "[secret: "
_SHORTEST = 8
"""No shorter text contains a secret that we would find."""


def mark(kind: str) -> str:
    return f"{OPENING}{kind}]"


class Masker:
    """`known` returns exact secrets with their labels. It is called once, when there is something to mask."""

    def __init__(self, known: Callable[[], Mapping[str, str]] = dict) -> None:
        self._ask_known = known

    def text(self, text: str) -> str:
        return with_marks(text, self.find(text))

    def data(self, value: object) -> Any:
        """JSON data with every text in it masked, including values of keys such as `password`."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self._member(key, each) for key, each in cast("dict[Any, object]", value).items()}
            case list() | tuple():
                return [self.data(each) for each in cast("list[object]", value)]
            case _:
                return value

    def _member(self, key: object, value: object) -> Any:
        if isinstance(key, str) and isinstance(value, str):
            from assent.secrets.secret_words import key_is_secret, kind_of
            from assent.secrets.values import is_word_for_secret

            if key_is_secret(key) and is_word_for_secret(value):
                return mark(kind_of(key))
        return self.data(value)

    def stream(self) -> "MaskedStream":
        """For a text that comes in pieces."""
        from assent.secrets.stream_masking import MaskedStream

        return MaskedStream(self)

    def pending(self, text: str) -> int:
        """From where on the text may be the beginning of a secret; its length if it is not."""
        from assent.secrets.pending import pending

        return pending(text, self._known)

    def find(self, text: str) -> "list[Span]":
        if len(text) < _SHORTEST:
            return []
        from assent.secrets.secret_search import find_secrets

        return find_secrets(text, self._known)

    @cached_property
    def _known(self) -> tuple[tuple[str, str], ...]:
        from assent.secrets.values import is_distinct

        return tuple((value, kind) for value, kind in self._ask_known().items() if is_distinct(value))


class Unmasked(Masker):
    """Leaves everything unchanged, for those who want that."""

    def find(self, text: str) -> "list[Span]":
        return []

    def pending(self, text: str) -> int:
        return len(text)

    def data(self, value: object) -> Any:
        return value


def with_marks(text: str, spans: "list[Span]") -> str:
    """A colour that ends within a secret must still end, so escapes stay."""
    if not spans:
        return text
    from assent.secrets.secret_search import ESCAPE

    pieces, at = list[str](), 0
    for span in spans:
        pieces += [text[at : span.start], mark(span.kind), *ESCAPE.findall(text, span.start, span.end)]
        at = span.end
    return "".join([*pieces, text[at:]])
