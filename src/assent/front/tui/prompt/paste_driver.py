"""A terminal driver with a guard: pasted text stays a paste, whatever it contains.

Textual takes an escape character inside a paste for the start of a key, and what follows for keys: a colour code in
pasted text becomes typing, its line ends become Enter, and that might answer a question on the screen. Here, an escape
character inside a paste is replaced before anything can obey it; `paste.clean` removes it with its sequence. Bytes that
are not UTF-8 are replaced instead of crashing the app. Alt-Enter and Shift-Enter of older terminals are translated to
the form that Textual knows, and so is Alt with a letter or a symbol: Textual would wait for more, and take it for
typing if another sequence arrives with it.
"""

import asyncio
import os
import re
import selectors
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from assent.front.tui.prompt.paste import STAND_IN

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
_MODIFIED_ENTER = re.compile(r"\x1b\r|\x1b\[27;([2-8]);13~")
_ALT_CHARACTER = re.compile(r"\x1b([ac-eg-zA-MQ-WYZ!-,./:-<>-@`{-~])")
"""Without those that Textual knows as a sequence of their own, and those that start a longer one."""
_READ = 4096


class PasteGuard:
    """Takes what the terminal sends, in pieces of any size, and makes pastes harmless."""

    def __init__(self) -> None:
        self._pasting = False
        self._before = ""
        """The last characters outside a paste: its start marker may come in two pieces."""
        self._held = ""
        """The last characters of a paste, which may be the first part of its end marker."""

    def feed(self, data: str) -> str:
        passed: list[str] = []
        data, self._held = self._held + data, ""
        while data:
            piece, data = self._paste(data) if self._pasting else self._keys(data)
            passed.append(piece)
        return "".join(passed)

    def _keys(self, data: str) -> tuple[str, str]:
        """Everything up to and including the start of a paste, and the rest."""
        at = (self._before + data).find(_BEGIN)
        end = at + len(_BEGIN) - len(self._before) if at >= 0 else len(data)
        self._pasting = at >= 0
        self._before = "" if self._pasting else (self._before + data)[1 - len(_BEGIN) :]
        keys = _MODIFIED_ENTER.sub(_spelled, data[:end])
        return _ALT_CHARACTER.sub(lambda found: f"\x1b[{ord(found[1])};3u", keys), data[end:]

    def _paste(self, data: str) -> tuple[str, str]:
        """The pasted text, with its end marker if it has arrived, and the rest."""
        pasted, end, rest = data.partition(_END)
        self._pasting = not end
        if not end:
            self._held = _partial_end(pasted)
            pasted = pasted.removesuffix(self._held)
        return pasted.replace("\x1b", STAND_IN) + end, rest


def _spelled(found: "re.Match[str]") -> str:
    return f"\x1b[13;{found[1] or 3}u"


def _partial_end(text: str) -> str:
    lengths = range(len(_END) - 1, 0, -1)
    return next((_END[:length] for length in lengths if text.endswith(_END[:length])), "")


class GuardedParser(XTermParser):
    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._guard = PasteGuard()

    def feed(self, data: str) -> Iterable[Message]:
        """Textual takes an empty text for the end of input."""
        passed = self._guard.feed(data)
        return super().feed(passed) if passed or not data else ()


class GuardedDriver(LinuxDriver):
    """For `App(driver_class=GuardedDriver)`.

    While another program has the terminal, the app keeps running and its output is discarded: Textual would put it into
    a queue that nobody reads, and block forever once that is full. When the terminal is back, everything is redrawn.
    """

    def write(self, data: str) -> None:
        thread = self._writer_thread
        if thread is not None and thread.is_alive():
            thread.write(data)

    def resume_application_mode(self) -> None:
        """The other program may have been killed before it could restore the terminal, which is not to be kept so."""
        if self.attrs_before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        super().resume_application_mode()
        asyncio.get_running_loop().call_soon_threadsafe(self._draw_all)

    def _draw_all(self) -> None:
        """The size has not changed, so Textual alone would only draw changes."""
        self._app.screen.refresh()

    def _sigcont_application(self, *_: object) -> None:
        """Textual would start a second time after a stop signal that cannot be handled."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            self._draw_all()
        else:
            super()._sigcont_application()  # pyright: ignore[reportUnknownMemberType]

    def run_input_thread(self) -> None:
        parser = GuardedParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = os.read(self.fileno, _READ)
                    if not data:
                        return  # the terminal is gone
                    self._pass_on(parser.feed(text) if (text := decode(data)) else ())
                self._pass_on(parser.tick())

    def _pass_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
