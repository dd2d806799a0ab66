"""Text that was typed where nothing reads it; it goes to the input."""

from textual.events import Key
from textual.message import Message


class TypedElsewhere(Message):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def letter(event: Key) -> str:
    """The character of a key; empty if it has none that could be typed."""
    return event.character or "" if event.is_printable else ""
