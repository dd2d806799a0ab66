"""The keyboard of a terminal: whole lines, the echo, and what is typed too early.

The terminal collects a line until Enter. If it were emptied while someone is typing, the rest of that line would count
as a line of its own; so this also says whether there was a beginning of one.
"""

import fcntl
import os
import sys
import termios
from contextlib import suppress
from struct import unpack

_FLAGS = 3


class TerminalKeys:
    def __init__(self) -> None:
        self.terminal = sys.stdin.fileno()
        self._begun = ""
        """A line that came without its end."""
        self._silenced = False

    # --- lines ---

    def read(self) -> str | None:
        """A whole line with its end, an empty text at the end of the input, or None if the line goes on."""
        piece = os.read(self.terminal, 4096).decode(errors="replace")
        if piece and not piece.endswith("\n"):
            self._begun += piece
            return None
        line, self._begun = self._begun + piece, ""
        return line if piece else ""

    def drop(self) -> bool:
        """Forgets what has been typed so far; returns whether there was anything, even half a line."""
        begun, self._begun = self._begun, ""
        kept = termios.tcgetattr(self.terminal)
        by_keys = [*kept]
        by_keys[_FLAGS] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(self.terminal, termios.TCSANOW, by_keys)  # until then, half a line cannot be seen
        (waiting,) = unpack("i", fcntl.ioctl(self.terminal, termios.FIONREAD, bytes(4)))
        termios.tcflush(self.terminal, termios.TCIFLUSH)
        termios.tcsetattr(self.terminal, termios.TCSANOW, kept)
        return bool(begun or waiting)

    # --- the echo ---

    def show(self, shown: bool) -> None:
        """Whether what is typed appears on the screen."""
        if shown != self._silenced or not self.is_ours():
            return
        if not shown and not self.echoes:
            return  # someone else has switched it off
        attributes = termios.tcgetattr(self.terminal)
        attributes[_FLAGS] = attributes[_FLAGS] | termios.ECHO if shown else attributes[_FLAGS] & ~termios.ECHO
        termios.tcsetattr(self.terminal, termios.TCSANOW, attributes)
        self._silenced = not shown

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, also the end of a line."""
        return bool(termios.tcgetattr(self.terminal)[_FLAGS] & termios.ECHO)

    def resume(self, shown: bool) -> None:
        """After a stop. Some shells then set the terminal as it was before the stop, and others as they like."""
        self._begun = ""
        self._silenced = self._silenced and not self.echoes
        self.show(shown)

    def give_back(self) -> None:
        """As it was, and without what was typed for us. In the background, it is the shell's already."""
        if self._silenced and self.is_ours():
            with suppress(termios.error, OSError):  # the terminal may be gone
                self.drop()
                self.show(True)

    def is_ours(self) -> bool:
        """Whether we are in the foreground. In the background, a change would stop us."""
        try:
            return os.tcgetpgrp(self.terminal) == os.getpgrp()
        except OSError:  # not our controlling terminal, so nothing stops us
            return True
