"""Fields whose cursor does not blink: nothing on the screen moves by itself, and screenshots are reproducible."""

from textual.widgets import Input

from assent.front.tui.prompt.readline_area import ReadlineArea


class SteadyInput(Input):
    def on_mount(self) -> None:
        self.cursor_blink = False


class SteadyTextArea(ReadlineArea):
    def on_mount(self) -> None:
        self.cursor_blink = False
