"""Copies text to the clipboard of the terminal (OSC 52), also over SSH.

What is copied may be pasted into a shell, so it contains nothing that a terminal would obey.
"""

from typing import TYPE_CHECKING

from assent.app.wording import count
from assent.front.tui.prompt.paste import clean, line_count

if TYPE_CHECKING:
    from textual.app import App

MAX_LENGTH = 100_000
"""Characters; many terminals take no more."""


def copy_text(app: "App[None]", text: str) -> str:
    """Copies it, and says so."""
    if len(text) > MAX_LENGTH:
        long = f"This is too long to copy ({len(text):,} characters; a terminal takes {MAX_LENGTH:,})."
        return f"{long} In the viewer (/view), m marks lines and c copies them."
    harmless = clean(text)
    if not harmless.strip():
        return "There is nothing to copy."
    app.copy_to_clipboard(harmless)
    lines = line_count(harmless)
    return f"Copied {count(lines, 'line') if lines > 1 else count(len(harmless), 'character')}."
