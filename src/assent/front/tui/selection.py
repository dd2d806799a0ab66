"""Copies what is selected on the screen or in the input."""

from typing import TYPE_CHECKING, Any

from assent.front.tui.main_screen import MainScreen

if TYPE_CHECKING:
    from assent.front.tui.terminal_app import AssentApp


class Selection:
    def __init__(self, app: "AssentApp") -> None:
        self._app = app
        self._copied: dict[Any, Any] = {}

    def ended(self) -> None:
        """A double click says it twice: as the end of a selection, and for the word that is selected then."""
        screen = self._app.screen
        selected = dict(screen.selections)
        if selected != self._copied and (text := screen.get_selected_text()):
            self._app.copy(text)
        self._copied = selected

    def copy(self) -> bool:
        """Whether there was something to copy; it is no longer selected."""
        screen, prompt = self._app.screen, self._app.prompt
        typed = prompt.selected_text if isinstance(screen, MainScreen) else ""
        selected = screen.get_selected_text() or typed
        if selected:
            self._app.copy(selected)
            screen.clear_selection()
            if typed:
                prompt.move_cursor(prompt.cursor_location)
        return bool(selected)
