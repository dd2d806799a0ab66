"""Text that was typed where nothing reads it; it goes to the input, or to the field that is about to get the focus."""

from typing import TYPE_CHECKING

from textual.events import Key
from textual.message import Message

if TYPE_CHECKING:
    from textual.widgets import Input


class TypedElsewhere(Message):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


def letter(event: Key) -> str:
    """The character of a key; empty if it has none that could be typed."""
    return event.character or "" if event.is_printable else ""


def typed_early(event: Key, field: "Input") -> bool:
    """A key that follows the one that leads to a field may arrive before the field has the focus: it belongs there."""
    text = letter(event)
    if text:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(text)
    return bool(text)
