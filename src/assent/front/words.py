"""Short words that every front end uses: what a call is about, how long something took, how much there is of it."""

from assent.events import CallRequest


def call_about(request: CallRequest) -> str:
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
