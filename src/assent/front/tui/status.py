"""Keeps the lines around the input up to date: what is going on, what is waiting, and where we are."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assent.app.call_states import Executing
from assent.front.tui.bars import Facts, FootLine, QueueView, StatusLine, server_words
from assent.front.tui.todo_view import TodoView

if TYPE_CHECKING:
    from assent.app.session_state import SessionState
    from assent.front.tui.host import ServerInfo
    from assent.front.tui.terminal_app import AssentApp


class StatusUpdater:
    def __init__(self, app: "AssentApp", clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._away_since: float | None = None
        """When the connection to the session's server was lost."""
        self._facts = Facts(folder=app.host.folder)
        self._over = False
        """The session has ended: whatever ran in it is not running any more."""
        self.thinking = ""
        """What the model is thinking about, in its own words; empty once its reply is complete."""

    def begin(self) -> None:
        self._foot.put(self._facts)

    def no_session(self) -> None:
        self._foot.put(Facts(model="no session", folder=self._app.host.folder))

    def between_sessions(self) -> None:
        self._away_since, self._over = None, False
        self._app.query_one(QueueView).put(())
        self._app.query_one(TodoView).put((), asking=False)

    def at(self, folder: str, branch: str) -> None:
        self._facts = replace(self._facts, folder=folder, branch=branch)
        self.refresh()

    def servers(self, servers: "Sequence[ServerInfo]") -> None:
        self._facts = replace(self._facts, servers=server_words(servers))
        self.refresh()

    def link(self, connected: bool) -> None:
        """Shown immediately, not with the next key: without a connection, the screen is out of date."""
        self._away_since = None if connected else self._away_since or self._clock()
        self.refresh()

    def session_is_over(self) -> None:
        self._over = True
        self.refresh()

    def redraw(self) -> None:
        self._foot.draw()

    def refresh(self) -> None:
        if self._app.client is None:
            return
        state, modes = self._app.client.state, self._app.modes
        self._facts = replace(
            self._facts,
            model=state.model or "no model",
            mode=state.mode if modes.waits else modes.wished or state.mode,
            next_mode=modes.wished or "" if modes.waits else "",
            folder=state.folder,
            tokens=state.usage.total,
            context=round(state.conversation.window_share, 3),
            cost=self._cost(),
            waiting=len(state.waiting()),
            background=sum(not one.outcome for one in state.background.values()),
        )
        self._foot.put(self._facts)
        self._app.query_one(QueueView).put(state.queued, elsewhere=self._inside, typing=not self._app.prompt.is_empty)
        works = state.open_prompt is not None and not self._over
        todos = state.todos if works and self._app.feed.steps.current else ()
        self._app.query_one(TodoView).put(todos, asking=bool(state.waiting()))
        self._say_what_runs(state)

    @property
    def _foot(self) -> FootLine:
        return self._app.query_one(FootLine)

    @property
    def _inside(self) -> bool:
        """Whether the keyboard is at a question, or at the input of a command."""
        return self._app.panel.has_keyboard or self._app.input_panel.line.has_focus

    def _say_what_runs(self, state: "SessionState") -> None:
        status = self._app.query_one(StatusLine)
        running = [call for call in state.pending() if isinstance(call, Executing)]
        # the first Esc only leaves the question, or the input of a command
        hint = "Esc twice to cancel" if self._inside else "Esc to cancel"
        if self._away_since is not None:
            status.busy(self._away_since, "The connection is lost", "reconnecting; what you see may be out of date")
        elif self._over:
            status.idle()
        elif waiting := state.waiting():
            status.busy(min(call.started_at for call in waiting), "Waiting for your answer", hint)
        elif any(call.wanted is not None for call in running):
            status.busy(running[0].started_at, "Waiting for your input", hint)
        elif state.open_prompt is not None:
            status.busy(state.busy_since, "Running" if running else self.thinking or "Working", hint)
        elif running:
            status.busy(running[0].started_at, "Running", hint)
        else:
            self.thinking = ""
            status.idle()

    def _cost(self) -> str:
        """A `+?` stands for what was used without a known price; on its own, that is no cost to show."""
        tally = self._app.feed.tally
        spent = tally.spent
        if not spent.tokens or (spent.unpriced and not spent.dollars):
            return ""
        return f"${spent.dollars:.2f}{'+?' if spent.unpriced else ''}"
