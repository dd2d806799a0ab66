"""Shift-Tab: goes from mode to mode. Only the last one takes effect.

Otherwise, each mode on the way would answer waiting questions and be noted in the conversation.
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
        self.wished: Mode | None = None
        """The mode that is shown but not yet in effect."""
        self.pause = PAUSE_SECONDS

    def forward(self) -> None:
        client = self._app.client
        if client is None:
            return
        now = self.wished or client.state.mode
        self.wished = MODES[(MODES.index(now) + 1) % len(MODES)] if now in MODES else MODES[0]
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_timer(self.pause, self.arrive)
        self._app.show_status()

    def forget(self) -> None:
        """The session is another one."""
        self.wished = None

    async def arrive(self) -> None:
        """Also called before anything else is sent, which is meant for the mode that is shown."""
        client, wished = self._app.client, self.wished
        self.wished = None
        if client is not None and wished is not None and wished != client.state.mode:
            await self._app.link.send(SetMode(wished, by=client.me))
        elif wished is not None:
            self._app.show_status()
