"""Turns the person's attention to what waits for them: gives it the keyboard if nobody is typing, rings, and notifies.

How the terminal is asked to notify is in the settings (`[terminal] notify`); what a question says is not known here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.app.wording import duration, safe
from assent.config import Notice
from assent.front.tui.key_guard import KeyGuard

if TYPE_CHECKING:
    from textual.screen import Screen

    from assent.app.call_states import AwaitingApproval
    from assent.front.tui.terminal_app import AssentApp

AWAY_SECONDS = 10.0
"""After this long without a key, the person may be elsewhere, even if the terminal cannot tell."""
LONG_SECONDS = 30.0
"""The end of a turn is worth a notice if it took this long."""
MAX_TITLE = 60
SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class Attention:
    def __init__(self, app: "AssentApp", guard: KeyGuard, notices: Sequence[Notice]) -> None:
        self._app = app
        self._guard = guard
        self._notices = notices
        self._busy_since: float | None = None
        """When the running turn began, by the clock of the keys."""
        self._titled = ""
        """The terminal's title, if it is ours."""

    def to_questions(self) -> None:
        app = self._app
        if app.client is None:
            return
        waiting = [call for call in app.client.state.waiting() if not call.answered_by]
        had, answering, away = app.panel.call is not None, app.panel.has_keyboard, self._is_away
        app.panel.put(waiting)
        self._close_stale_screens({call.request.call_id: call.approval.id for call in waiting})
        for unsent in app.begun.left_over(app.client.state.session, app.client.state.calls):
            app.note(unsent, "warning")
        if waiting and not had:
            self._notify(waiting[0], away=away)
            if app.prompt.is_empty and not _is_answering(app.screen):
                app.panel.focus()
        elif app.panel.call is not None:
            self._set_title(app.panel.call)
        elif not waiting:
            self.restore_title()
            if answering:
                app.prompt.focus()

    def to_input(self) -> None:
        """A command that asks for input gets the keyboard at once, unless someone is typing something else.

        People who see `Password:` start to type, and must not type it into a message.
        """
        app = self._app
        if app.client is None:
            return
        panel, had, away = app.input_panel, app.input_panel.line.has_focus, self._is_away
        if panel.put(app.client.state.pending()):
            if app.prompt.has_focus and app.prompt.is_empty and len(app.screen_stack) == 1:
                panel.line.focus()
            if away and "bell" in self._notices:
                app.bell()
        elif had and not panel.display:
            app.prompt.focus()

    def to_end_of_turn(self) -> None:
        """Whoever went away while a long turn ran is told that it is over."""
        app, now = self._app, self._guard.now
        if app.client is not None and app.client.state.open_prompt is not None:
            self._busy_since = now if self._busy_since is None else self._busy_since
        elif self._busy_since is not None:
            took, self._busy_since = now - self._busy_since, None
            if took >= LONG_SECONDS and self._is_away:
                self._send_notices(f"Turn ended after {duration(took * 1000)}")

    def _close_stale_screens(self, waiting: dict[str, str]) -> None:
        """Someone else answered, or the question has changed. What was being typed is kept (`begun_answers`)."""
        from assent.front.tui.answer_screens import AnswerScreen

        screen = self._app.screen
        if isinstance(screen, AnswerScreen) and waiting.get(screen.call.request.call_id) != screen.call.approval.id:
            screen.dismiss(None)

    # --- notices ---

    @property
    def _is_away(self) -> bool:
        return not self._app.app_focus or self._guard.silence >= AWAY_SECONDS

    def _notify(self, call: "AwaitingApproval", *, away: bool) -> None:
        from assent.app.question_text import question_title

        self._set_title(call)
        if away:
            self._send_notices(one_title(question_title(call.approval.details)))

    def _send_notices(self, text: str) -> None:
        if "bell" in self._notices:
            self._app.bell()
        self._app.write_to_terminal("".join(notice(kind, text) for kind in self._notices))

    def _set_title(self, call: "AwaitingApproval") -> None:
        """To the question that is shown."""
        from assent.app.question_text import question_title

        title = f"? {one_title(question_title(call.approval.details))}"
        if "title" in self._notices and title != self._titled:
            self._app.write_to_terminal(("" if self._titled else SAVE_TITLE) + f"\x1b]2;{title}\x07")
            self._titled = title

    def restore_title(self) -> None:
        """While the terminal can still be written to: after a `kill -9`, nobody knows the title that was saved."""
        if self._titled:
            self._titled = ""
            self._app.write_to_terminal(RESTORE_TITLE)


def _is_answering(screen: "Screen[object]") -> bool:
    from assent.front.tui.answer_screens import AnswerScreen

    return isinstance(screen, AnswerScreen)


def notice(kind: Notice, text: str) -> str:
    """The sequence that asks the terminal for a desktop notification; empty for other kinds."""
    match kind:
        case "osc9":
            return f"\x1b]9;Assent: {text}\x07"
        case "osc777":
            return f"\x1b]777;notify;Assent;{text}\x07"
        case "osc99":
            return f"\x1b]99;;Assent: {text}\x1b\\"
        case "bell" | "title":
            return ""


def one_title(text: str) -> str:
    """Safe for a title: one line, printable, and nothing that separates the parts of a sequence."""
    shown = "".join(char for char in safe(text, "label") if char.isprintable() and char != ";")
    return shown[: MAX_TITLE - 1] + "…" if len(shown) > MAX_TITLE else shown
