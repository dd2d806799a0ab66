"""The floor of the terminal UI: the least that a Textual app can be.

python textual_floor.py frame          a line and an input
python textual_floor.py stream FILE    the same; Enter streams the fragments in FILE into a Markdown widget
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Static, TextArea

PLACEHOLDER = "Ask something, or /help"


class Frame(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("A line.")
        yield (area := TextArea(placeholder=PLACEHOLDER))
        area.cursor_blink = False  # nothing moves by itself, as in Assent


class Stream(App[None]):
    """As in Textual's own demo: one Markdown widget in a container that stays at its end."""

    CSS = "VerticalScroll { height: 1fr; } TextArea { height: 3; }"
    BINDINGS: ClassVar[list[BindingType]] = [("enter", "stream", "Stream")]

    def __init__(self, fragments: list[str], pause: float) -> None:
        super().__init__()
        self._fragments, self._pause = fragments, pause

    def compose(self) -> ComposeResult:
        from textual.containers import VerticalScroll
        from textual.widgets import Markdown

        with VerticalScroll():
            yield Markdown()
        yield TextArea(placeholder=PLACEHOLDER, disabled=True)
        yield Static("ready", id="state")

    def action_stream(self) -> None:
        self.run_worker(self._stream())

    async def _stream(self) -> None:
        from textual.containers import VerticalScroll
        from textual.widgets import Markdown

        self.query_one(VerticalScroll).anchor()
        stream = Markdown.get_stream(self.query_one(Markdown))
        for fragment in self._fragments:
            await stream.write(fragment)
            await asyncio.sleep(self._pause)
        await stream.stop()


def main(kind: str, *rest: str) -> None:
    if kind == "frame":
        Frame().run()
        return
    script = json.loads(Path(rest[0]).read_text())
    Stream(script["fragments"], script["pause"]).run()


main(*sys.argv[1:])
