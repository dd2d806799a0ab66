"""Notices when a command waits for input, and types what the person enters.

A terminal does not say that a program reads from it. So when nothing has been printed for a moment, this looks: whether
a process is in the middle of reading, whether the echo is off as for a password, and whether the last line has the
shape of a question. What a person types is written to the terminal, which does not echo it (EXTPROC), and goes nowhere
else. The echo flag is left to the programs: it alone tells which prompt is for a secret.
If nobody types, the command gets the end of its input after a while, and is ended if that does not help.
"""

import asyncio
import os
import termios
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from assent.parts import InputWanted
from assent.process.plain_text import plain
from assent.process.prompt_shapes import is_prompt, wants_secret
from assent.process.pty import EXTPROC
from assent.process.tty_reader import reads_terminal
from assent.process.typed_text import TypedText

QUIET = 0.3
"""Seconds without output before the first check."""
_LONGEST_PAUSE = 4.0
"""Seconds between two checks, at most."""
_LAST_LINES = 1000
_SHOWN = 300
"""Characters of the prompt."""
_ENDS_OF_INPUT = 5
"""How often a command is sent the end of its input if nobody types."""
_LONGEST_TYPED = 4000
"""Bytes; a terminal accepts no longer line."""
_WATCH = 0.1
"""Seconds between two looks at the echo: a program may print its prompt first, and then switch the echo off."""
_INPUT, _FLAGS, _CHARACTERS = 0, 3, 6
"""Positions in the attributes of a terminal."""


class CannotType(ValueError):
    """The text cannot be typed as one line."""


class Keyboard:
    """Passes a person's input to a command. `tell` gets what the command wants, and None when it no longer waits."""

    def __init__(self, tell: Callable[[InputWanted | None], None]) -> None:
        self.tell = tell
        self.terminal: TerminalInput | None = None
        self.typed = 0
        """How many times a person typed something."""

    def type(self, number: int, text: str | None) -> bool:
        """One line, or None for the end of the input. False if that prompt no longer waits. Raises CannotType."""
        if text is not None and (not text.isprintable() or len(text.encode()) > _LONGEST_TYPED):
            raise CannotType("Type one line without control characters, up to 4,000 bytes.")
        if self.terminal is None or not self.terminal.type(number, text):
            return False
        self.typed += 1
        return True


class TerminalInput:
    """`over` ends the command; `pass_on` takes output that it held back, or that stands for an echo."""

    def __init__(
        self,
        terminal: int,
        device: int,
        keyboard: Keyboard,
        max_wait: float | None,
        over: Callable[[], None],
        pass_on: Callable[[str], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._terminal, self._device, self._keyboard = terminal, device, keyboard
        self._max_wait, self._over, self._pass_on = max_wait, over, pass_on
        self.typed_text = TypedText()
        self.wanted: InputWanted | None = None
        self.waits_for_person = False
        """It certainly waits, so its silence says nothing."""
        self._lines = ""
        self._deserted = False
        """Nobody typed in time, so nobody is asked again."""
        self._prompts = 0
        self._ends = 0
        self._pause = QUIET
        self._looking: asyncio.Future[bool | None] | None = None
        """The newest look, unless something has happened since it began."""
        self._look_again: asyncio.TimerHandle | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        keyboard.terminal = self
        self._later(QUIET)

    def close(self) -> None:
        self._keyboard.terminal = None
        self._withdraw()
        self._stop(self._look_again)
        self._terminal = -1

    def heard(self, text: str) -> None:
        """The command printed something, so it does not wait for what it wanted before, unless it certainly reads: then
        another of its processes may print, and the person goes on typing until a look shows that nothing reads.
        """
        self._lines = (self._lines + text)[-_LAST_LINES:]
        self._pause = QUIET
        if not self.waits_for_person or self._asks():
            self._withdraw()
            self._later(QUIET)
        else:
            self._wait_for_answer()
            self._sooner(QUIET)

    # --- typing ---

    def type(self, number: int, text: str | None) -> bool:
        if self.wanted is None or self.wanted.number != number:
            return False
        self._withdraw()
        self._pause = QUIET
        if text is None:
            self._end_input()
        else:
            self.typed_text.add(text)
            self._enter(text)
        self._later(QUIET)
        return True

    def _enter(self, text: str) -> None:
        """Only the line break appears, if it would with an echo."""
        attributes = termios.tcgetattr(self._terminal)
        self._lines = ""
        silent = _silent(attributes)
        if silent != attributes:  # a program has set all flags anew
            termios.tcsetattr(self._terminal, termios.TCSANOW, silent)
        if attributes[_FLAGS] & (termios.ECHO | termios.ECHONL):
            self._pass_on("\n")
        os.write(self._terminal, text.encode() + _line_end(attributes))
        if not EXTPROC:
            termios.tcsetattr(self._terminal, termios.TCSANOW, attributes)

    def _end_input(self) -> None:
        self._ends += 1
        os.write(self._terminal, termios.tcgetattr(self._terminal)[_CHARACTERS][termios.VEOF])

    # --- looking ---

    def _later(self, seconds: float) -> None:
        self._stop(self._look_again)
        self._look_again = self._loop.call_later(seconds, self._look)

    def _sooner(self, seconds: float) -> None:
        """However often it prints."""
        if self._look_again is None or self._look_again.when() > self._loop.time() + seconds:
            self._later(seconds)

    def _look(self) -> None:
        """In a thread: it goes through all processes of the machine."""
        if held := self.typed_text.flush():
            self._pass_on(held)
            self._lines += held
        self._looking = self._loop.run_in_executor(None, reads_terminal, self._device)
        self._looking.add_done_callback(self._saw)

    def _saw(self, looked: "asyncio.Future[bool | None]") -> None:
        if looked is not self._looking or looked.cancelled():
            return
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        self._later(self._pause)
        wanted, certain = self._judge(looked.result())
        if wanted is None:
            self._withdraw()
        elif self._deserted and certain:
            self._give_up()
        elif (wanted, certain) != (self.wanted, self.waits_for_person):
            self._ask(wanted, certain)
        else:
            self._keyboard.tell(wanted)  # again, for those who have begun to watch since

    def _ask(self, wanted: InputWanted, certain: bool) -> None:
        self._stop(self._deadline)
        self.wanted, self.waits_for_person = wanted, certain
        self._keyboard.tell(wanted)
        self._watch_echo()
        if certain:
            self._wait_for_answer()

    def _wait_for_answer(self) -> None:
        self._stop(self._deadline)
        if self._max_wait is not None:
            self._deadline = self._loop.call_later(self._max_wait, self._too_late)

    def _watch_echo(self) -> None:
        """From the moment in which the echo is off, what is being typed is hidden."""
        self._stop(self._watch)
        if self.wanted is None or self.wanted.secret:
            return
        if _hides(termios.tcgetattr(self._terminal)[_FLAGS]):
            self._ask(replace(self.wanted, secret=True), self.waits_for_person)
        else:
            self._watch = self._loop.call_later(_WATCH, self._watch_echo)

    def _judge(self, reading: bool | None) -> tuple[InputWanted | None, bool]:
        """What the command wants, if anything, and whether it certainly waits for that."""
        flags = termios.tcgetattr(self._terminal)[_FLAGS]
        echoes, by_lines = bool(flags & termios.ECHO), bool(flags & termios.ICANON)
        certain = bool(reading or (not echoes and reading is None))
        if certain and self.wanted is not None and self.waits_for_person:
            return replace(self.wanted, secret=self.wanted.secret or _hides(flags)), True
        if not (certain or self._asks() or not by_lines):
            return None, False
        last, was_secret = self._last_line(), self.wanted is not None and self.wanted.secret
        return InputWanted(last, self._prompts, was_secret or wants_secret(last) or _hides(flags)), certain

    def _last_line(self) -> str:
        lines = [line for line in plain(self._lines).split("\n") if line.strip()]
        return lines[-1][-_SHOWN:] if lines else ""

    def _asks(self) -> bool:
        """Whether the last line has the shape of a question."""
        return not self._lines.endswith("\n") and is_prompt(self._last_line())

    def _too_late(self) -> None:
        self._deserted = True
        self._give_up()

    def _give_up(self) -> None:
        self._withdraw()
        if self._ends >= _ENDS_OF_INPUT:
            self._over()
            return
        self._end_input()
        self._pause = QUIET
        self._later(QUIET)

    def _withdraw(self) -> None:
        self._stop(self._deadline)
        self._stop(self._watch)
        self.waits_for_person, self._looking = False, None
        if self.wanted is not None:
            self.wanted = None
            self._prompts += 1
            self._keyboard.tell(None)

    @staticmethod
    def _stop(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def _silent(attributes: list[Any]) -> list[Any]:
    """The same terminal, but what is typed is not echoed."""
    silent = [*attributes]
    silent[_FLAGS] = silent[_FLAGS] | EXTPROC if EXTPROC else silent[_FLAGS] & ~termios.ECHO
    return silent


def _hides(flags: int) -> bool:
    """As for a password. An editor of lines, such as readline, takes keys one by one and echoes them itself."""
    return not flags & termios.ECHO and bool(flags & termios.ICANON)


def _line_end(attributes: list[Any]) -> bytes:
    """What the Enter key becomes: without an echo, the terminal does not translate it either."""
    translated = attributes[_FLAGS] & termios.ICANON or attributes[_INPUT] & termios.ICRNL
    return b"\n" if translated else b"\r"
