"""Fields whose cursor does not blink: nothing on the screen moves by itself, and screenshots are reproducible."""

from textual.widgets import Input, TextArea


class SteadyInput(Input):
    def on_mount(self) -> None:
        self.cursor_blink = False


class SteadyTextArea(TextArea):
    def on_mount(self) -> None:
        self.cursor_blink = False
