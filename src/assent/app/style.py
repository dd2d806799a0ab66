"""Colour on a terminal that wants it, none anywhere else."""

import os
from typing import TextIO

from msgspec import Struct

from assent.terminal_width import columns


class Style(Struct, frozen=True):
    colour: bool
    width: int = 0
    """For prose, in cells; 0 if lines are not to be broken."""

    @classmethod
    def for_stream(cls, stream: TextIO) -> "Style":
        wanted = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        shown = stream.isatty()
        return cls(shown and wanted, columns(stream.fileno()) - 1 if shown else 0)

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def red(self, text: str) -> str:
        return self._wrap("31", text)

    def green(self, text: str) -> str:
        return self._wrap("32", text)

    def yellow(self, text: str) -> str:
        return self._wrap("33", text)

    def cyan(self, text: str) -> str:
        return self._wrap("36", text)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text
