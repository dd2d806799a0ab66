"""Lets a person type on the terminal what a running command asks for. Secrets are not shown, and nothing is kept."""

import sys
import termios
from collections.abc import Awaitable, Callable

from msgspec import Struct

from assent.app.wording import safe
from assent.events import CallFinished, CallInput, Envelope
from assent.front.headless.console import Console
from assent.parts import InputWanted

TypeIn = Callable[[str, int, str | None], Awaitable[str]]
"""The call, the number of its prompt, and the line; returns why it was not typed."""
_FLAGS = 3


class _Asked(Struct, frozen=True):
    call_id: str
    wanted: InputWanted


class InlineInput:
    """One prompt at a time."""

    def __init__(self, type_in: TypeIn, console: Console) -> None:
        self._type_in = type_in
        self._console = console
        self._style = console.style
        self._waiting: dict[str, InputWanted] = {}
        self._asked: _Asked | None = None

    @property
    def is_open(self) -> bool:
        return self._asked is not None

    def event(self, envelope: Envelope) -> None:
        match envelope.event:
            case CallInput(call_id=call_id, wanted=InputWanted() as wanted):
                self._waiting[call_id] = wanted
                self._hide(call_id, wanted)
            case CallInput(call_id=call_id) | CallFinished(call_id=call_id):
                self._waiting.pop(call_id, None)
                if self._asked is not None and self._asked.call_id == call_id:
                    self.close()
            case _:
                pass

    def _hide(self, call_id: str, wanted: InputWanted) -> None:
        """The program has switched the echo off after its prompt was shown."""
        shown = self._asked
        same = shown is not None and (shown.call_id, shown.wanted.number) == (call_id, wanted.number)
        if shown is not None and same and wanted.secret and not shown.wanted.secret:
            self._asked = _Asked(call_id, wanted)
            self._set_echo(False)
            self._console.prompt(f"\n{self._style.dim('  from now on hidden; begin again:')} ")

    def show(self) -> None:
        """Ask for what the first command waits for."""
        if self._asked is not None or not self._waiting:
            return
        self._asked = _Asked(*next(iter(self._waiting.items())))
        wanted = self._asked.wanted
        hidden = ", hidden" if wanted.secret else ""
        self._console.open_question()
        waiting = f"  the command is waiting for your input{hidden}; the model does not see it"
        self._console.say(self._style.dim(waiting))
        self._set_echo(not wanted.secret)
        self._console.prompt(f"  {safe(wanted.prompt, 'label')} ")

    async def take(self, line: str | None) -> None:
        """A line, or None for the end of the input."""
        asked = self._asked
        if asked is None:
            return
        if asked.wanted.secret and line is not None:
            self._console.say("")  # the end of the line was not shown either
        self.close()
        self._waiting.pop(asked.call_id, None)
        text = None if line is None else line.rstrip("\r\n")
        if problem := await self._type_in(asked.call_id, asked.wanted.number, text):
            self._console.lines(self._style.red(f"  not typed: {safe(problem, 'label')}"))

    def close(self) -> None:
        if self._asked is not None:
            self._asked = None
            self._set_echo(True)
            self._console.close_question()

    @staticmethod
    def _set_echo(on: bool) -> None:
        """What was typed before does not count."""
        terminal = sys.stdin.fileno()
        attributes = termios.tcgetattr(terminal)
        attributes[_FLAGS] = attributes[_FLAGS] | termios.ECHO if on else attributes[_FLAGS] & ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSAFLUSH, attributes)
