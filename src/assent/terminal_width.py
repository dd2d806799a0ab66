"""How many columns the terminal has. `shutil` knows too, but takes long to import."""

import os
from typing import Final

USUAL: Final = 80


def columns(descriptor: int) -> int:
    """`COLUMNS` comes first, as in other programs."""
    if (set_by_user := os.environ.get("COLUMNS", "")).isdigit():
        return int(set_by_user) or USUAL
    try:
        return os.get_terminal_size(descriptor).columns or USUAL
    except OSError:
        return USUAL
