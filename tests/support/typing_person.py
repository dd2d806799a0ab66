"""A person who types what running commands ask for."""

import asyncio

from assent.parts import InputWanted
from assent.process.terminal_input import Keyboard


class TypingPerson:
    """Types the next of these lines whenever a command waits; None is the end of the input."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.wanted: list[InputWanted] = []
        self.keyboard = Keyboard(self.asked)

    def asked(self, wanted: InputWanted | None) -> None:
        if wanted is None:
            return
        self.wanted.append(wanted)
        if self.lines:
            asyncio.get_running_loop().call_soon(self.keyboard.type, wanted.number, self.lines.pop(0))
