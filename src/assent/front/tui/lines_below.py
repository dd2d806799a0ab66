"""The parts below a question say when their height changes: the question takes the lines that they leave."""

from textual.message import Message
from textual.widget import Widget


class LinesBelow(Widget):
    """A part of the screen between a question and the last line."""

    class Changed(Message):
        """It became higher or lower, appeared, or disappeared."""

    def on_resize(self) -> None:
        self.post_message(self.Changed())

    def on_show(self) -> None:
        self.post_message(self.Changed())

    def on_hide(self) -> None:
        self.post_message(self.Changed())
