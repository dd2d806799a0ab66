"""An argument as text that a person can edit, and the value that such a text stands for."""

import json
from typing import Any

import msgspec

from assent.app.wording import safe


def argument_text(value: object) -> str:
    """Plain text as it is; text with hidden characters as JSON with escapes, because the terminal would obey them."""
    if _is_plain(value):
        return str(value)
    return json.dumps(value, indent=None if isinstance(value, str) else 2)


def parsed_argument(text: str, before: object) -> Any:
    """Text stays text; everything else is JSON, as it was shown."""
    if _is_plain(before):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"this must be JSON ({error})") from error


def _is_plain(value: object) -> bool:
    return isinstance(value, str) and "\x1b" not in value and safe(value, "output") == value
