"""The model's own questions, one after the other: choose an option, tick several, or answer in your own words.

Esc goes back to the question before. All answers stay in the draft until they are sent, also if the screen is closed.
"""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import option_words
from assent.app.wording import safe
from assent.front.tui.answer_screens import AnswerBox, AnswerList, AnswerScreen
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.steady_input import SteadyInput

CHOOSE = "Enter or a number chooses · Tab own words"
TICK = "Space or a number ticks, Enter takes what is ticked · Tab own words"
WRITE = "Enter answer"


class AskScreen(AnswerScreen[tuple[str, ...]]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "tick", "tick", show=False)]
    DEFAULT_CSS = """
    AskScreen #asked { height: auto; max-height: 35vh; }
    AskScreen OptionList, AskScreen OptionList:focus { max-height: 35vh; }
    """

    def __init__(self, call: AwaitingApproval, guard: KeyGuard, draft: AskDraft, *, own_words: bool = False) -> None:
        """`own_words`: the person does not want one of the options."""
        super().__init__(call, guard)
        self._draft = draft
        self._own_words = own_words

    def compose(self) -> ComposeResult:
        with AnswerBox():
            with VerticalScroll(id="asked", can_focus=False):
                yield Static("")
            yield AnswerList(self.clicked)
            yield SteadyInput(select_on_focus=False)
            yield Static("", classes="hint", id="how")

    def on_mount(self) -> None:
        self._show(own_words=self._own_words)

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    def _show(self, *, own_words: bool = False) -> None:
        draft = self._draft
        self.begin()
        self.at_work = False
        number = f"({draft.number}) " if draft.number else ""
        self.query_one("#asked Static", Static).update(Text(number + safe(draft.question.question)))
        self._list_options()
        self._options.display = not draft.writes
        self._options.highlighted = None if draft.writes else min(draft.reply.chosen, default=0)
        self._prepare_field()
        self.query_one("#how", Static).update(_how(draft))
        (self._field if own_words or draft.writes or draft.reply.own else self._options).focus()

    def _prepare_field(self) -> None:
        draft, field = self._draft, self._field
        otherwise = "your answer" if draft.writes else "another answer"
        field.placeholder = safe(draft.question.placeholder, "label") or otherwise
        field.value = draft.reply.words
        field.cursor_position = len(field.value)

    def _list_options(self) -> None:
        highlighted = self._options.highlighted
        self._options.clear_options()
        self._options.add_options(
            Option(Text(self._line(place, words))) for place, words in enumerate(option_words(self._draft.question))
        )
        self._options.highlighted = highlighted

    def _line(self, place: int, words: str) -> str:
        box = ("[x] " if place in self._draft.reply.chosen else "[ ] ") if self._ticks else ""
        return f"{place + 1}. {box}{words}"

    @property
    def _ticks(self) -> bool:
        return self._draft.question.multi_select

    # --- keys ---

    def took_key(self, event: Key) -> None:
        if self.focused is not self._options or not (event.character or "").isdecimal():
            return
        place = int(event.character or "0") - 1
        if 0 <= place < len(self._draft.labels):
            event.stop()
            self._number(place)

    def _number(self, place: int) -> None:
        """A number ticks at once; to choose, it needs a pause before it, like any answer."""
        self._options.highlighted = place
        if self._ticks:
            self._tick(place)
        elif self.was_quiet:
            self._choose({place})
        else:
            self.say_too_fast()

    def action_tick(self) -> None:
        if self._ticks and self.focused is self._options and self._options.highlighted is not None:
            self._tick(self._options.highlighted)

    def _tick(self, place: int) -> None:
        self.at_work |= self.was_quiet
        self._draft.reply.chosen ^= {place}
        self._list_options()
        self._options.highlighted = place

    def clicked(self, place: int) -> bool:
        """Where several can be ticked, a click ticks; Enter takes them."""
        if not self._ticks:
            return super().clicked(place)
        self._tick(place)
        return False

    def action_back(self) -> None:
        if self._draft.back():
            self._show()
        else:
            super().action_back()

    # --- answers ---

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """If nothing is ticked, the highlighted option is the answer."""
        ticked = self._draft.reply.chosen if self._ticks else set[int]()
        self._choose(ticked or {event.option_index})

    def on_input_changed(self) -> None:
        self._draft.reply.words = self._field.value

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if words := event.value.strip():
            self._go_on(more=self._draft.write(words))

    def _choose(self, places: set[int]) -> None:
        self._go_on(more=self._draft.choose(places))

    def _go_on(self, *, more: bool) -> None:
        if more:
            self._show()
        else:
            self.dismiss(self._draft.answers)


def _how(draft: AskDraft) -> str:
    keys = WRITE if draft.writes else TICK if draft.question.multi_select else CHOOSE
    back = "Esc back one question" if draft.place else "Esc back"
    return f"{keys} · {back}{', answers are kept' if draft.number else ''}"
