"""Lets a person type on the terminal what a running command asks for. Secrets are not shown, and nothing is kept."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from assent.app.wording import safe
from assent.events import CallFinished, CallInput, Envelope
from assent.front.headless.console import Console
from assent.parts import InputWanted

TypeIn = Callable[[str, int, str | None], Awaitable[str]]
"""The call, the number of its prompt, and the line; returns why it was not typed."""


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

    @property
    def is_secret(self) -> bool:
        return self._asked is not None and self._asked.wanted.secret

    @property
    def is_wanted(self) -> bool:
        return bool(self._waiting)

    def event(self, envelope: Envelope) -> None:
        match envelope.event:
            case CallInput(call_id=call_id, wanted=InputWanted() as wanted):
                self._waiting[call_id] = wanted
            case CallInput(call_id=call_id) | CallFinished(call_id=call_id):
                self._waiting.pop(call_id, None)
                if self._asked is not None and self._asked.call_id == call_id:
                    self.close()
            case _:
                pass

    def turns_secret(self) -> bool:
        """Whether the program has switched its echo off after the prompt was shown."""
        if (shown := self._asked) is None or shown.wanted.secret:
            return False
        now = self._waiting.get(shown.call_id)
        return now is not None and now.secret and now.number == shown.wanted.number

    def hide(self, _: str = "") -> None:
        """The same prompt, hidden from now on."""
        if self._asked is not None:
            self._asked = _Asked(self._asked.call_id, self._waiting[self._asked.call_id])
            self._console.prompt(f"\n{self._style.dim('  from now on hidden; begin again:')} ")

    def show(self, note: str = "") -> None:
        """Ask for what the first command waits for."""
        self._asked = _Asked(*next(iter(self._waiting.items())))
        self._console.open_question()
        hidden = ", hidden" if self._asked.wanted.secret else ""
        waiting = f"  the command is waiting for your input{hidden}; the model does not see it"
        self._console.tell(waiting, self._style.dim)
        if note:
            self._console.tell(note, self._style.yellow)
        self.prompt()

    def prompt(self) -> None:
        if self._asked is not None:
            self._console.prompt(f"  {safe(self._asked.wanted.prompt, 'label')} ")

    async def take(self, line: str | None) -> None:
        """A line, or None for the end of the input."""
        asked = self._asked
        if asked is None:
            return
        self.close()
        self._waiting.pop(asked.call_id, None)
        text = None if line is None else line.rstrip("\r\n")
        if problem := await self._type_in(asked.call_id, asked.wanted.number, text):
            self._console.prose(f"  not typed: {safe(problem, 'label')}", self._style.red)

    def close(self) -> None:
        if self._asked is not None:
            self._asked = None
            self._console.close_question()
