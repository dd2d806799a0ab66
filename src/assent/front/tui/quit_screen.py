"""Asks before the program is left, and what runs with it: the same question as before another session.

The key that asked answers it, too, so that nobody who means it is held up.
"""

from typing import ClassVar

from textual.binding import Binding, BindingType

from assent.front.tui.lists import Action, Chosen, Column, ListScreen, Row
from assent.front.tui.slash.slash_helpers import still


class QuitScreen(ListScreen):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+d", "leave", show=False)]

    def __init__(self, loss: str) -> None:
        loss = f"{loss} To keep a background command running: /tasks"
        self._yes = Row("yes", ("Leave it",), loss)
        rows = [Row("no", ("No",), loss), self._yes]
        super().__init__("Leave this session?", (Column(""),), still(rows), [Action("enter", "choose")])

    def action_leave(self) -> None:
        """Ctrl-C does this as well."""
        self.dismiss(Chosen("enter", self._yes))
