"""Small screens: a text to read, a text to agree to, and a line to fill in. Callers make untrusted text safe."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key, Resize
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from assent.front.tui.steady_input import WordsInput

CHROME_LINES = 5
"""Lines for border and hint, and a little of the screen behind."""


R = TypeVar("R")


class _TextScreen(ModalScreen[R]):
    """Text that may be longer than the screen; arrows scroll, Esc closes."""

    HINT = ""
    DEFAULT_CSS = """
    _TextScreen { align: center middle; }
    _TextScreen #box { width: 96%; max-width: 120; height: auto; border: round $accent; }
    _TextScreen #box { padding: 0 1; background: $surface; }
    _TextScreen VerticalScroll { height: auto; }
    _TextScreen #hint { color: $text-muted; height: auto; }
    """

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            with VerticalScroll():
                yield Static(self._text, markup=False)
            yield Static(Content(self.HINT), id="hint", markup=False)

    def on_mount(self) -> None:
        self.query_one("#box").border_title = Content(self._title)
        self.query_one(VerticalScroll).focus()

    def on_resize(self, event: Resize) -> None:
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - CHROME_LINES)


class PageScreen(_TextScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss(None)", "Close", show=False)]
    HINT = "↑ ↓ scroll · Esc close"


class ReviewScreen(_TextScreen[str]):
    """Text that a person agrees to, with one of a few keys; None if they do not. Enter agrees to nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,n", "dismiss(None)", "No", show=False)]

    def __init__(self, title: str, text: Content, choices: Mapping[str, str]) -> None:
        """`choices`: what each key agrees to, in words."""
        super().__init__(title, text)
        self._choices = choices
        offered = " · ".join(f"{key} {meaning}" for key, meaning in choices.items())
        self.HINT = f"{offered} · Esc no"

    def on_key(self, event: Key) -> None:
        if event.character in self._choices:
            event.stop()
            self.dismiss(event.character)


class LineScreen(ModalScreen[str | None]):
    """Asks for one line; None if the person cancels."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]
    DEFAULT_CSS = """
    LineScreen { align: center middle; }
    LineScreen #box { width: 80%; max-width: 90; height: auto; border: round $accent; padding: 0 1; }
    LineScreen #box { background: $surface; }
    LineScreen Input, LineScreen Input:focus { border: none; height: 1; padding: 0; background: $boost; }
    LineScreen #hint { color: $text-muted; height: 1; }
    """

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title = title
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield WordsInput(self._value)
            yield Static(Content("Enter save · Esc cancel"), id="hint", markup=False)

    def on_mount(self) -> None:
        self.query_one("#box").border_title = Content(self._title)
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)
