"""Short words that every front end uses: what a call is about, how long something took, how much there is of it.

Also `safe`, the way of all foreign text to a screen. Imported at every start: whatever is slow is imported later.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assent.events import CallRequest
    from assent.screen import Context


def safe(text: str, context: "Context" = "prompt") -> str:
    """Foreign text as it may be shown; see `assent.screen` for the contexts."""
    from assent.screen import make_safe  # takes 7 ms

    return make_safe(text, context).text


def one_line(text: str) -> str:
    """All of it, safe and without line breaks; a `label` would be cut."""
    return safe(text).replace("\n", " ")


def call_about(request: "CallRequest") -> str:
    """The argument that says what a call is about: its first text. It is the model's, so make it safe."""
    return next((value for value in request.args.values() if isinstance(value, str)), "")


def duration(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def count(number: int, thing: str, things: str = "") -> str:
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def short_number(number: int) -> str:
    """1234 → 1.2k"""
    if number < 1000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"
