"""How a prompt names files with `@`."""

from assent.files.mentions import AT, BARE, QUOTED, unescaped

__all__ = (
    "AT",
    "BARE",
    "QUOTED",
    "unescaped",
)
