"""The details of an answer: the reason for a refusal, or other arguments. `scope_screen` has the scope of "always".

Small screens above the question. Each belongs to one call, and closes when that call is no longer waiting.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Key
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from assent.app.call_states import AwaitingApproval
from assent.app.wording import safe
from assent.approval import AskDetails
from assent.front.tui.argument_text import argument_text, parsed_argument
from assent.front.tui.begun_answers import BegunAnswer
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.steady_input import SteadyTextArea, WordsInput
from assent.parts import JsonObject

_CHOOSING = frozenset(" 0123456789")
"""What can be typed in a list: a number, and the space that ticks."""
_MOVES = ("up", "down", "pageup", "pagedown", "home", "end")
R = TypeVar("R")


class AnswerBox(Vertical):
    """Right above the question, where the person is looking; covers part of it only if there is no other room."""

    def on_resize(self) -> None:
        self.call_after_refresh(self.place)

    def place(self) -> None:
        question = self.app.screen_stack[0].query_one("#approval")  # pyright: ignore[reportUnknownMemberType]
        height = self.screen.size.height
        end = max(question.region.y if question.display else height, self.outer_size.height)
        self.styles.offset = (0, min(end - height, 0))  # a margin would reduce its height


class AnswerList(OptionList):
    """Options that can be clicked, if the screen agrees."""

    def __init__(self, clicked: Callable[[int], bool], *options: Option) -> None:
        super().__init__(*options)
        self._clicked = clicked

    def on_click(self, event: Click) -> None:
        place = event.style.meta.get("option")
        if place is not None and not self._clicked(place):
            event.prevent_default()


class AnswerScreen(ModalScreen[R]):
    """Esc returns to the question without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back")]
    DEFAULT_CSS = """
    AnswerScreen { align: center bottom; }
    AnswerScreen > AnswerBox { width: 90%; max-width: 110; height: auto; max-height: 90%; padding: 0 1;
        border: round $accent; background: $surface; }
    AnswerScreen .hint { color: $text-muted; }
    AnswerScreen OptionList, AnswerScreen OptionList:focus { height: auto; max-height: 8; border: none; padding: 0;
        background: $surface; }
    AnswerScreen OptionList > .option-list--option-highlighted,
    AnswerScreen OptionList:focus > .option-list--option-highlighted { background: $primary 30%; color: $foreground; }
    AnswerScreen Input, AnswerScreen Input:focus { border: none; height: 1; padding: 0; background: $boost; }
    AnswerScreen TextArea, AnswerScreen TextArea:focus { height: auto; max-height: 8; border: none; margin-top: 1;
        background: $boost; }
    AnswerScreen .problem { color: $error; }
    """

    def __init__(self, call: AwaitingApproval, guard: KeyGuard) -> None:
        super().__init__()
        self.call = call
        self._guard = guard
        self.was_quiet = False
        """Whether there was a pause before the newest key."""
        self._shown_at = 0.0
        self._typed = False
        """Whether something was typed in a list that means nothing there: the person meant to type somewhere else."""
        self.at_work = False
        """Whether a key pressed after a pause has changed something here, so that what follows is meant for this
        screen."""

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        """What can be chosen has just appeared."""
        self._guard.disturb()
        self._shown_at = self._guard.now
        self._typed = False

    def on_resize(self) -> None:
        self.call_after_refresh(self.query_one(AnswerBox).place)

    def on_key(self, event: Key) -> None:
        """Typing must not choose: Enter takes an option only after a pause, and not after text until the person has
        moved in the list. Arrow keys do not count as typing.
        """
        self.was_quiet = self.at_work or self._guard.is_quiet(event.time)
        if isinstance(self.focused, OptionList):
            self._in_list(event)
        if event.is_printable or event.key == "enter":
            self._guard.disturb()
        self.took_key(event)

    def _in_list(self, event: Key) -> None:
        if event.key in _MOVES:
            self._typed = False
        elif event.key != "enter":
            self._typed |= event.is_printable and event.character not in _CHOOSING
        elif self._typed:
            event.stop()
            self.notify("What you typed chooses nothing here. Choose with ↑ ↓ or a number.", timeout=4)
        elif not self.was_quiet:
            event.stop()
            self.say_too_fast()

    def took_key(self, event: Key) -> None:
        """For screens with keys of their own. Not `on_key`: Textual calls that of every class."""

    def clicked(self, _place: int) -> bool:
        """Whether a click takes this option: not the second click of two, made before this was here."""
        if self._guard.is_seen(self._shown_at):
            return True
        self.say_too_fast()
        return False

    def say_too_fast(self) -> None:
        self.notify("That was too fast to be an answer. Press it again.", timeout=2)

    def action_back(self) -> None:
        self.dismiss(None)


class ReasonScreen(AnswerScreen[str]):
    """Refuses, or declines to answer, and tells the model why."""

    def __init__(self, call: AwaitingApproval, guard: KeyGuard, begun: BegunAnswer) -> None:
        super().__init__(call, guard)
        self._begun = begun

    def compose(self) -> ComposeResult:
        asked = isinstance(self.call.approval.details, AskDetails)
        example = "decide it yourself" if asked else "use the other branch"
        with AnswerBox():
            yield Label("You decline to answer. Why?" if asked else "No. What should it do instead?")
            yield WordsInput(self._begun.reason, placeholder=example, select_on_focus=False)
            yield Static(f"Enter {'decline' if asked else 'refuse'} with this reason · Esc back", classes="hint")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._begun.reason = event.value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self._begun.reason = event.value
            self.dismiss(event.value.strip())

    def action_back(self) -> None:
        self._begun.reason = self.query_one(WordsInput).value
        super().action_back()


class ArgumentsScreen(AnswerScreen[JsonObject]):
    """Any argument can be changed; the question is then asked again with what is in the fields."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "use", "use these arguments", priority=True)]

    def __init__(self, call: AwaitingApproval, guard: KeyGuard, begun: BegunAnswer) -> None:
        super().__init__(call, guard)
        self._args = call.request.args
        self._begun = begun
        self._name = begun.name if begun.name in self._args else next(iter(self._args), "")

    def compose(self) -> ComposeResult:
        with AnswerBox():
            yield Label(Text(f"Change the arguments of {safe(self.call.request.tool, 'label')}"))
            yield OptionList(*self._options())
            yield SteadyTextArea(soft_wrap=True)
            yield Static("", classes="problem")
            yield Static(
                "Tab switch to the list, ↑ ↓ choose there · Ctrl-S use it, and ask again · Esc back", classes="hint"
            )

    def on_mount(self) -> None:
        super().on_mount()
        self._edit()
        self.query_one(OptionList).highlighted = list(self._args).index(self._name) if self._name else None
        self.query_one(TextArea).focus()

    def _edit(self) -> None:
        """Shows the chosen argument, with the cursor at its end, as in the line of a shell."""
        area = self.query_one(TextArea)
        area.load_text(self._text(self._name) if self._name else "")
        area.move_cursor(area.document.end)

    def _options(self) -> Sequence[Option]:
        return [Option(self._line(name), name) for name in self._args]

    def _line(self, name: str) -> Text:
        return Text(safe(f"{name}: {self._text(name)}", "label"))

    def _text(self, name: str) -> str:
        """As it was edited so far."""
        return self._begun.args.get(name, argument_text(self._args[name]))

    @on(OptionList.OptionHighlighted)
    def choose(self, event: OptionList.OptionHighlighted) -> None:
        if not event.option.id or event.option.id == self._name:
            return
        self._remember()
        if self._is_valid(self._name):
            self.query_one(OptionList).replace_option_prompt(self._name, self._line(self._name))
            self._name = event.option.id
            self._edit()

    @on(TextArea.Changed)
    def _remember(self) -> None:
        """What was typed, valid or not."""
        if not self._name:
            return
        self._begun.name, text = self._name, self.query_one(TextArea).text
        if text == argument_text(self._args[self._name]):
            self._begun.args.pop(self._name, None)
        else:
            self._begun.args[self._name] = text

    def _is_valid(self, name: str) -> bool:
        """If what was typed is not a valid value, shows the reason."""
        problem = self.query_one(".problem", Static)
        try:
            self._value(name)
        except ValueError as error:
            problem.update(Text(safe(f"{name}: {error}", "label")))
            return False
        problem.update("")
        return True

    def _value(self, name: str) -> object:
        """The argument as edited; one that was not edited is exactly what it was."""
        if name not in self._begun.args:
            return self._args.get(name)
        return parsed_argument(self._begun.args[name], self._args[name])

    def action_use(self) -> None:
        self._remember()
        if all(self._is_valid(name) for name in self._args):
            self.dismiss({name: self._value(name) for name in self._args})

    def action_back(self) -> None:
        self._remember()
        super().action_back()
