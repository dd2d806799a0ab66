"""The keys that stop and quit: Ctrl-C and Esc stop what is running, Ctrl-D quits. They mean the same as in `assent -p`.
Quitting asks first if commands in the background would be stopped.

What waits in the queue is held when a turn is stopped, and sent with Enter.
"""

import time
from typing import TYPE_CHECKING

from textual.actions import SkipAction
from textual.screen import ModalScreen

from assent.app.call_states import Executing
from assent.commands import CancelCall, CancelTurn, Command, ReleaseQueue, Withdraw

if TYPE_CHECKING:
    from assent.front.tui.lists import Chosen
    from assent.front.tui.quit_screen import QuitScreen
    from assent.front.tui.terminal_app import AssentApp

QUIT_SECONDS = 2.0


class Stopping:
    def __init__(self, app: "AssentApp") -> None:
        self._app = app
        self._quit_until = 0.0
        self._stopped = ""
        """The turn that was told to stop last."""
        self._question: QuitScreen | None = None
        """Whether to quit although something would be stopped; the latest one."""

    # --- keys ---

    @property
    def can_stop(self) -> bool:
        """Whether Ctrl-C would stop something."""
        return not isinstance(self._app.screen, ModalScreen) and bool(self._to_stop(""))

    def interrupt(self) -> None:
        """Ctrl-C: closes a screen, or stops what runs, or clears the input; with nothing to do, twice quits."""
        app = self._app
        if self._question is not None and app.screen is self._question:
            self._question.action_leave()
        elif isinstance(app.screen, ModalScreen):
            app.screen.dismiss(None)
        elif wishes := self._to_stop("The user pressed Ctrl-C."):
            self._keep_half_an_answer()
            self._stop(wishes)
        elif not app.prompt.is_empty:
            app.prompt.clear()
        else:
            self._quit_or_ask("Ctrl-C")

    def _keep_half_an_answer(self) -> None:
        """What was typed as an answer goes with its question; it is in the input again."""
        app = self._app
        if app.panel.line.has_focus and app.panel.line.value and app.prompt.is_empty:
            app.prompt.paste(app.panel.line.value)

    def escape(self) -> None:
        """Esc: stops what runs, or leaves the shell mode."""
        if wishes := self._to_stop("The user pressed Esc."):
            self._stop(wishes)
        else:
            self._app.prompt.focus()
            if self._app.prompt.is_empty:
                self._app.prompt.shell = False

    def leave(self) -> None:
        """Ctrl-D with an empty input: quits. What waits for an answer is kept; what runs would be stopped, so then it
        takes two.
        """
        if not self._app.prompt.is_empty:
            raise SkipAction
        if self._runs or self._runs_in_background:
            self._quit_or_ask("Ctrl-D", " What is running will be stopped.")
        else:
            self._app.exit()

    def quit(self) -> None:
        """Quits, unless something would be stopped and the person wants to stay."""
        from assent.front.tui.quit_screen import QuitScreen
        from assent.front.tui.slash.slash_helpers import loss_by_leaving

        if not (loss := loss_by_leaving(self._app.context)):
            self._app.exit()
            return

        def answered(chosen: "Chosen | None") -> None:
            if chosen is not None and chosen.row.key == "yes":
                self._app.exit()

        self._question = QuitScreen(loss)
        self._app.push_screen(self._question, answered)

    # --- the queue ---

    async def release(self) -> None:
        """Enter in the empty input: what is held in the queue is sent."""
        client = self._app.client
        if client is not None and any(queued.held for queued in client.state.queued):
            await self._app.send(ReleaseQueue(by=client.me))

    async def take_back(self) -> None:
        """Up in the empty input: the newest queued prompt returns to it, to be edited."""
        client, prompt = self._app.client, self._app.prompt
        if client is None or not client.state.queued or not prompt.has_focus or not prompt.is_empty:
            raise SkipAction
        newest = client.state.queued[-1]
        await self._app.send(Withdraw(newest.key, by=client.me))
        prompt.load(newest.text)
        prompt.shell = bool(newest.tool)

    # --- stopping and leaving ---

    def _to_stop(self, why: str) -> list[Command]:
        """The turn, unless it has been told already; between two turns, the person's own calls."""
        client = self._app.client
        if client is None:
            return []
        state, me = client.state, client.me
        if state.open_prompt is not None:
            return [CancelTurn(why, by=me, hold=True)] if state.open_prompt != self._stopped else []
        running = (call for call in state.pending() if isinstance(call, Executing))
        return [CancelCall(call.request.call_id, why, by=me) for call in running]

    def _stop(self, wishes: list[Command]) -> None:
        client = self._app.client
        self._stopped = (client.state.open_prompt if client is not None else None) or ""
        for wish in wishes:
            self._app.spawn(self._app.send(wish))

    @property
    def _runs(self) -> bool:
        """Whether something is in progress that is more than a question."""
        client = self._app.client
        if client is None:
            return False
        running = any(isinstance(call, Executing) for call in client.state.pending())
        return running or (client.state.open_prompt is not None and not client.state.waiting())

    @property
    def _runs_in_background(self) -> bool:
        client = self._app.client
        background = client.state.background.values() if client is not None else ()
        return not self._app.host.keeps_running and any(not one.outcome and not one.kept for one in background)

    def _quit_or_ask(self, key: str, loss: str = "") -> None:
        if self._runs_in_background:
            self.quit()
            return
        if time.monotonic() < self._quit_until:
            self._app.exit()
            return
        client = self._app.client
        kept = " The session is kept." if client is not None and client.state.begun else ""
        self._app.notify(f"Press {key} again to quit.{loss}{kept}", timeout=QUIT_SECONDS)
        self._listen_for_quit()
        self._app.call_after_refresh(self._listen_for_quit)  # on a slow machine, the message appears late

    def _listen_for_quit(self) -> None:
        self._quit_until = time.monotonic() + QUIT_SECONDS
