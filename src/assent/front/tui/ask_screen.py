"""The model's own questions, one after the other: choose an option, tick several, or answer in your own words."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import option_labels, option_words
from assent.app.wording import safe
from assent.approval import Question
from assent.front.tui.answer_screens import AnswerBox, AnswerList, AnswerScreen
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.steady_input import SteadyInput

CHOOSE = "Enter or a number chooses · Tab use your own words · Esc back"
TICK = "Space or a number ticks, Enter takes what is ticked · Tab use your own words · Esc back"
WRITE = "Enter answer · Esc back"


class AskScreen(AnswerScreen[tuple[str, ...]]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "tick", "tick", show=False)]
    DEFAULT_CSS = """
    AskScreen #asked { height: auto; max-height: 35vh; }
    AskScreen OptionList, AskScreen OptionList:focus { max-height: 35vh; }
    """

    def __init__(self, call: AwaitingApproval, guard: KeyGuard, questions: tuple[Question, ...]) -> None:
        super().__init__(call, guard)
        self._questions = questions
        self._answers: list[str] = []
        self._ticked: set[int] = set()

    def compose(self) -> ComposeResult:
        with AnswerBox():
            with VerticalScroll(id="asked", can_focus=False):
                yield Static("")
            yield AnswerList(self.clicked)
            yield SteadyInput()
            yield Static("", classes="hint", id="how")

    def on_mount(self) -> None:
        self._show()

    @property
    def _question(self) -> Question:
        return self._questions[len(self._answers)]

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    def _show(self) -> None:
        question = self._question
        self.begin()
        self.at_work = False
        self._ticked.clear()
        number = f"({len(self._answers) + 1} of {len(self._questions)}) " if len(self._questions) > 1 else ""
        self.query_one("#asked Static", Static).update(Text(number + safe(question.question)))
        self._list_options()
        options, field = self._options, self.query_one(Input)
        options.display = bool(options.option_count)
        options.highlighted = 0 if options.display else None
        field.value = ""
        field.placeholder = safe(question.placeholder, "label") or "another answer"
        self.query_one("#how", Static).update(_how(question, options.display))
        (options if options.display else field).focus()

    def _list_options(self) -> None:
        highlighted = self._options.highlighted
        self._options.clear_options()
        self._options.add_options(
            Option(Text(self._line(place, words))) for place, words in enumerate(option_words(self._question))
        )
        self._options.highlighted = highlighted

    def _line(self, place: int, words: str) -> str:
        box = ("[x] " if place in self._ticked else "[ ] ") if self._question.multi_select else ""
        return f"{place + 1}. {box}{words}"

    # --- keys ---

    def took_key(self, event: Key) -> None:
        options = len(option_labels(self._question))
        if self.focused is not self._options or not (event.character or "").isdecimal():
            return
        place = int(event.character or "0") - 1
        if 0 <= place < options:
            event.stop()
            self._number(place, event.time)

    def _number(self, place: int, at: float) -> None:
        """A number ticks at once; to choose, it needs a pause before it, like any answer."""
        self._options.highlighted = place
        if self._question.multi_select:
            self._tick(place)
        elif self.was_quiet:
            self._take(option_labels(self._question)[place])
        else:
            self.say_too_fast()

    def action_tick(self) -> None:
        if self._question.multi_select and self.focused is self._options and self._options.highlighted is not None:
            self._tick(self._options.highlighted)

    def _tick(self, place: int) -> None:
        self.at_work |= self.was_quiet
        self._ticked ^= {place}
        self._list_options()
        self._options.highlighted = place

    def clicked(self, place: int) -> bool:
        """Where several can be ticked, a click ticks; Enter takes them."""
        if not self._question.multi_select:
            return super().clicked(place)
        self._tick(place)
        return False

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """If nothing is ticked, the highlighted option is the answer."""
        labels = option_labels(self._question)
        chosen = sorted(self._ticked) or [event.option_index]
        self._take(", ".join(labels[place] for place in chosen))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._take(event.value.strip())

    def _take(self, answer: str) -> None:
        if not answer:
            return
        self._answers.append(answer)
        if len(self._answers) == len(self._questions):
            self.dismiss(tuple(self._answers))
        else:
            self._show()


def _how(question: Question, has_options: bool) -> str:
    if not has_options:
        return WRITE
    return TICK if question.multi_select else CHOOSE
