"""Fields whose cursor does not blink: nothing on the screen moves by itself, and screenshots are reproducible."""

from textual.widgets import Input

from assent.front.tui.prompt.readline_area import ReadlineArea


class SteadyInput(Input):
    def on_mount(self) -> None:
        self.cursor_blink = False


class SteadyTextArea(ReadlineArea):
    def on_mount(self) -> None:
        self.cursor_blink = False

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        """Ctrl-K deletes to the end of the line as it is, not as it is wrapped: the rest would run unseen."""
        row, column = self.cursor_location
        end = len(self.document.get_line(row))
        if column < end:
            self.delete((row, column), (row, end), maintain_selection_offset=False)
        else:
            self.action_delete_right()
