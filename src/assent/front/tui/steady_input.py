"""Fields whose cursor does not blink: nothing on the screen moves by itself, and screenshots are reproducible."""

from textual.events import Paste
from textual.widgets import Input

from assent.front.tui.prompt.paste import clean
from assent.front.tui.prompt.readline_area import ReadlineArea


class SteadyInput(Input):
    def on_mount(self) -> None:
        self.cursor_blink = False


class WordsInput(SteadyInput):
    """For a few words. Of a paste, Textual's own field takes only the first line."""

    def on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event)

    def paste(self, event: Paste) -> None:
        self.insert_text_at_cursor(" ".join(clean(event.text).split()))


class SteadyTextArea(ReadlineArea):
    def on_mount(self) -> None:
        self.cursor_blink = False
