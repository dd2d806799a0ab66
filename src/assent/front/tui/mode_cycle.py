"""Shift-Tab: goes from mode to mode. Only the last one takes effect, and not before open questions are answered.

Otherwise, every mode that someone passes would be noted in the conversation, and would decide about open questions: a
call that nobody has approved would run. `/mode NAME` changes the mode at once.
"""

from typing import TYPE_CHECKING

from assent.approval import Mode
from assent.commands import SetMode

if TYPE_CHECKING:
    from textual.timer import Timer

    from assent.front.tui.terminal_app import AssentApp

MODES: tuple[Mode, ...] = ("default", "auto_edit", "auto_try", "contained", "plan")
"""Without yolo, which needs a command of its own."""
PAUSE_SECONDS = 0.4
"""Seconds without a key after which the choice counts as made."""


class ModeCycle:
    def __init__(self, app: "AssentApp") -> None:
        self._app = app
        self._timer: Timer | None = None
        self._chosen = False
        """Whether the choice is made; it may still wait for an answer."""
        self._sent: Mode | None = None
        self.wished: Mode | None = None
        """The mode that is shown but not yet in effect."""
        self.pause = PAUSE_SECONDS

    @property
    def waits(self) -> bool:
        """Whether another mode is chosen, which takes effect only after open questions."""
        client = self._app.client
        return client is not None and self._asked and self.wished not in (None, client.state.mode)

    @property
    def _asked(self) -> bool:
        return self._app.client is not None and bool(self._app.client.state.waiting())

    def forward(self) -> None:
        client = self._app.client
        if client is None:
            return
        now = self.wished or client.state.mode
        wished = MODES[(MODES.index(now) + 1) % len(MODES)] if now in MODES else MODES[0]
        self.wished = wished if wished != client.state.mode or not self._asked else None
        self._stop_timer()
        self._chosen = False
        self._timer = self._app.set_timer(self.pause, self._choose)
        self._app.show_status()

    def forget(self) -> None:
        """The session is another one, or its mode was set in another way."""
        self._stop_timer()
        self.wished = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def questions_changed(self) -> None:
        if self.wished is not None and self._chosen and not self._asked:
            self._app.spawn(self.arrive())

    def changed(self, mode: Mode) -> None:
        """The mode of the session. If it was set in another way, that is the newer choice."""
        if mode != self._sent:
            self.forget()
        self._sent = None

    async def _choose(self) -> None:
        self._chosen = True
        if self.waits:
            self._app.panel.say(
                f"{self.wished} takes effect once you have answered; /mode {self.wished} applies it now."
            )
        else:
            await self.arrive()

    async def arrive(self) -> None:
        """Also called before anything else is sent, which is meant for the mode that is shown."""
        client, wished = self._app.client, self.wished
        if client is None or wished is None or self._asked:
            return
        self.forget()
        if wished != client.state.mode:
            self._sent = wished
            await self._app.link.send(SetMode(wished, by=client.me))
        else:
            self._app.show_status()
