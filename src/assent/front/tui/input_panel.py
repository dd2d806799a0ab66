"""The input of a running command: shows what it asks for, and passes on what the person types, which is kept nowhere.

It takes the keyboard unless someone is typing something else. It sends nothing itself: it posts `Typed`. When a command
no longer waits, it stays for a moment, because many commands ask again, and what is typed must not go into a message.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from assent.app.call_states import Executing, ToolCall
from assent.app.wording import one_line, safe
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.lines_below import LinesBelow
from assent.front.tui.steady_input import SteadyInput
from assent.front.tui.text_style import TextStyler

AGAIN_SECONDS = 2.0
"""How long a command has to ask again, after a line was sent to it or it printed something else."""
SENT = "Sent. If the command asks again, type here."
BUSY = "The command is busy. If it asks again, type here."


class InputPanel(LinesBelow, Vertical):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+d", "end", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    InputPanel { height: auto; display: none; padding: 0 1; border: round $warning; background: $surface; }
    InputPanel:focus-within { border: heavy $warning; }
    InputPanel Static { height: auto; }
    InputPanel Input, InputPanel Input:focus { border: none; height: 1; padding: 0; background: $boost; }
    """

    class Typed(Message):
        """A line, or None for the end of the input."""

        def __init__(self, call_id: str, number: int, text: str | None) -> None:
            super().__init__()
            self.call_id = call_id
            self.number = number
            self.text = text

    class Left(Message):
        """The command keeps waiting; the focus returns to the prompt."""

    def __init__(self, styler: Callable[[], TextStyler], guard: KeyGuard) -> None:
        super().__init__(id="input-panel")
        self._styler = styler
        self._guard = guard
        self._call: Executing | None = None
        self._expected = ""
        """The call that waited a moment ago, and may ask again."""
        self._sent = False
        """Whether a line was sent to it."""
        self._asked = ""
        """What it asked last."""
        self._patience: Timer | None = None
        """How long it may take to ask again."""

    def compose(self) -> ComposeResult:
        yield Static(id="input-question")
        yield SteadyInput(id="input-line")
        yield Static(id="input-keys")

    @property
    def line(self) -> Input:
        return self.query_one(Input)

    def put(self, calls: Sequence[ToolCall]) -> bool:
        """Shows the first of these calls that waits for input, or nothing. Returns whether that is a new prompt."""
        call = next((one for one in calls if isinstance(one, Executing) and one.wanted is not None), None)
        if call is None and self._may_ask_again(calls):
            self._wait_for_more()
        elif call is not None and _prompt_of(call) == _prompt_of(self._call):
            if _is_secret(call):
                self._hide(call)
        elif call is not self._call or self._expected:
            self._show(call)
            return call is not None
        return False

    def _may_ask_again(self, calls: Sequence[ToolCall]) -> bool:
        """Whether the call that waited is still running, and someone types or has typed for it."""
        stays = self._sent or self.line.has_focus or bool(self.line.value) or self._call is None
        return stays and any(one.request.call_id == self._waited for one in calls if isinstance(one, Executing))

    @property
    def _waited(self) -> str:
        """The call that is shown, or was a moment ago."""
        return self._call.request.call_id if self._call is not None else self._expected

    def _show(self, call: Executing | None) -> None:
        """What was typed for one command is not for another."""
        again = call is not None and call.request.call_id == self._waited
        self._call, self._expected, self._sent = call, "", False
        self._stop_waiting()
        self.display = call is not None
        if not again:
            self.line.value = ""
        if call is None:
            return
        asked = call.wanted.prompt if call.wanted is not None else ""
        if not again or _without_numbers(asked) != _without_numbers(self._asked):
            self._guard.disturb()
        self._asked = asked
        self._draw(call)

    def _wait_for_more(self) -> None:
        """Hidden, because nobody knows what it will ask for."""
        if self._call is None:
            return
        self._expected, self._call = self._call.request.call_id, None
        self.line.password = True
        self.query_one("#input-question", Static).update(Text(SENT if self._sent else BUSY, "bold"))
        self._stop_waiting()
        self._patience = self.set_timer(AGAIN_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.stop()
            self._patience = None

    def _give_up(self) -> None:
        """It does not ask again; but nothing that was typed for it may get anywhere else."""
        if self._expected and self._call is None and not self.line.value:
            had, self._expected, self.display = self.line.has_focus, "", False
            if had:
                self.post_message(self.Left())

    def _draw(self, call: Executing) -> None:
        wanted, palette = call.wanted, self._styler().palette
        assert wanted is not None
        self.line.password = wanted.secret
        self.border_title = Text("A running command is waiting for your input")
        about = Text(one_line(call.request.about), palette.dim)
        prompt = Text(safe(wanted.prompt, "label") or "(it printed no question)", "bold")
        self.query_one("#input-question", Static).update(Text("\n").join([about, prompt]))
        self._say_how()

    def _hide(self, call: Executing) -> None:
        """The program has switched the echo off after its prompt was shown: what was typed so far is hidden too."""
        self._call = call
        self.line.password = True
        self._say_how()

    def _say_how(self) -> None:
        palette, secret = self._styler().palette, "hidden, and " if self.line.password else ""
        kept = f"What you type is {secret}neither recorded nor shown to the model."
        keys = f"{kept}  Enter send · Ctrl-D end of input · Esc back"
        elsewhere = "Tab to type it here. What you type now goes into your message, for the model to read."
        how = Text(keys, palette.dim) if self.line.has_focus else Text(elsewhere, palette.warn)
        self.query_one("#input-keys", Static).update(how)

    def on_descendant_focus(self) -> None:
        self._say_how()

    def on_descendant_blur(self) -> None:
        self._say_how()

    def on_key(self, event: Key) -> None:
        """An Enter that was pressed before the prompt appeared sends nothing."""
        if event.key == "enter" and not self._guard.is_quiet(event.time) and not self.line.value:
            event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._send(event.value)

    def action_end(self) -> None:
        self._send(None)

    def _send(self, text: str | None) -> None:
        if self._call is None:
            return  # an Enter that was typed ahead: the text stays, to be sent when the command asks
        self.line.value = ""
        if self._call.wanted is not None:
            self._sent = text is not None
            self.post_message(self.Typed(self._call.request.call_id, self._call.wanted.number, text))

    def action_leave(self) -> None:
        self.post_message(self.Left())


def _prompt_of(call: Executing | None) -> tuple[str, int] | None:
    return None if call is None or call.wanted is None else (call.request.call_id, call.wanted.number)


def _without_numbers(prompt: str) -> str:
    """A prompt that counts down stays the same."""
    return "".join(char for char in prompt if not char.isdigit())


def _is_secret(call: Executing) -> bool:
    return call.wanted is not None and call.wanted.secret
