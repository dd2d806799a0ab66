"""How a prompt names files with `@`."""

from assent.files.mention_finder import AT, BARE, QUOTED, unescaped

__all__ = (
    "AT",
    "BARE",
    "QUOTED",
    "unescaped",
)
