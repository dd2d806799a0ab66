"""The model's own questions, one after the other: choose an option, tick several, or answer in your own words.

Esc goes back to the question before. All answers stay in the draft until they are sent, also if the screen is closed.
"""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import DescendantFocus, Key, Paste
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assent.app.call_states import AwaitingApproval
from assent.app.question_text import NONE_OF_THESE, option_words
from assent.app.wording import safe
from assent.front.tui.answer_screens import AnswerBox, AnswerList, AnswerScreen
from assent.front.tui.ask_draft import AskDraft
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.steady_input import WordsInput
from assent.front.tui.typed_elsewhere import letter, typed_early

CHOOSE = "Enter or a number chooses · Tab own words"
YES_OR_NO = "A number chooses, or type y or n and press Enter · Tab own words"
TICK = "Space or a number ticks, Enter takes what is ticked · Tab add own words"
NOTHING = f"Nothing is ticked. Press Enter again to answer “{NONE_OF_THESE}” · Space or a number ticks"
WRITE = "Enter answer"


class AskScreen(AnswerScreen[tuple[str, ...]]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "tick", "tick", show=False)]
    DEFAULT_CSS = """
    AskScreen #asked { height: auto; max-height: 35vh; }
    AskScreen OptionList, AskScreen OptionList:focus { max-height: 35vh; }
    """

    def __init__(
        self, call: AwaitingApproval, guard: KeyGuard, draft: AskDraft, *, own_words: bool = False, number: int = 0
    ) -> None:
        """`own_words`: the person does not want one of the options. `number`: the option to begin with, from 1."""
        super().__init__(call, guard)
        self._draft = draft
        self._own_words = own_words
        self._number_first = number
        self._words_begun = False
        """Whether typing or a paste in the list has begun an answer in own words."""
        self._none = False
        """Whether the person was told that Enter answers with none of the options."""

    def compose(self) -> ComposeResult:
        with AnswerBox():
            with VerticalScroll(id="asked", can_focus=False):
                yield Static("")
            yield AnswerList(self.clicked)
            yield WordsInput(select_on_focus=False)
            yield Static("", classes="hint", id="how")

    def on_mount(self) -> None:
        self._show(own_words=self._own_words)
        if 0 < self._number_first <= len(self._draft.labels):
            self._options.highlighted = self._number_first - 1
            self.action_tick()

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _field(self) -> WordsInput:
        return self.query_one(WordsInput)

    def _show(self, *, own_words: bool = False) -> None:
        draft = self._draft
        self.begin()
        self.at_work = False
        number = f"({draft.number}) " if draft.number else ""
        self.query_one("#asked Static", Static).update(Text(number + safe(draft.question.question)))
        self._list_options()
        self._options.display = not draft.writes
        self._options.highlighted = min(draft.reply.chosen, default=_first(draft))
        self._prepare_field()
        self._say_how()
        (self._field if own_words or draft.writes or draft.reply.own else self._options).focus()

    def _say_how(self, *, none: bool = False) -> None:
        self._none = none
        self.query_one("#how", Static).update(_how(self._draft, none=none))

    def _prepare_field(self) -> None:
        draft, field = self._draft, self._field
        otherwise = "your answer" if draft.writes else "add your own words" if self._ticks else "another answer"
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
        if self._words_begun and typed_early(event, self._field):
            return
        text = letter(event)
        if self.focused is not self._options or event.key == "space":
            return
        if event.key == "enter" and self._options.highlighted is None and self.was_quiet and not self._typed:
            self._field.focus()  # as at a single question
        if not text:
            return
        event.stop()
        if not text.isdecimal():
            self._begin_words(text)
        elif 0 <= (place := int(text) - 1) < len(self._draft.labels) and self._is_choice():
            self._number(place)

    def _is_choice(self) -> bool:
        """Whether a number or the space bar was pressed to choose, not as part of a text. A pause ends such a text."""
        self._typed = self._typed and not self.was_quiet
        return not self._typed

    def _begin_words(self, text: str) -> None:
        """Whoever types in the list wants to answer in own words, unless they were typing when it appeared."""
        if not self.was_quiet:
            return
        self._take_words().insert_text_at_cursor(text)

    def _take_words(self) -> WordsInput:
        self.at_work, self._typed, self._words_begun = True, False, True
        return self._field.focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if event.widget is self._options:
            self._words_begun = False

    def on_paste(self, event: Paste) -> None:
        """In the list: own words, like what is typed there."""
        if self.at_work or self._guard.is_quiet(event.time):
            event.stop()
            self._take_words().paste(event)

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
        here = self._options.highlighted if self.focused is self._options else None
        if self._ticks and here is not None and self._is_choice():
            self._tick(here)

    def _tick(self, place: int) -> None:
        self.at_work |= self.was_quiet
        self._draft.reply.chosen ^= {place}
        self._say_how()
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
        if self._ticks:
            self._take_ticks()
        else:
            self._choose({event.option_index})

    def _take_ticks(self) -> None:
        """With own words, if there are any."""
        if self._draft.nothing and not self._none:
            self.at_work = False  # the next Enter is an answer only after a pause
            self._say_how(none=True)
        elif self._draft.nothing and not self.was_quiet:
            self.say_too_fast()
        else:
            self._choose(self._draft.reply.chosen)

    def on_input_changed(self) -> None:
        self._draft.reply.words = self._field.value
        if self._none:
            self._say_how()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if words := event.value.strip():
            self._go_on(more=self._draft.write(words))
        elif self._ticks:
            self._take_ticks()

    def _choose(self, places: set[int]) -> None:
        self._go_on(more=self._draft.choose(places))

    def _go_on(self, *, more: bool) -> None:
        if more:
            self._show()
        else:
            self.dismiss(self._draft.answers)


def _first(draft: AskDraft) -> int | None:
    """The option that Enter takes when a question appears; never Yes, which may allow something."""
    return None if draft.writes or draft.question.type == "yesno" else 0


def _how(draft: AskDraft, *, none: bool) -> str:
    ticks = NOTHING if none else TICK
    one = YES_OR_NO if draft.question.type == "yesno" else CHOOSE
    keys = WRITE if draft.writes else ticks if draft.question.multi_select else one
    back = "Esc back one question" if draft.place else "Esc back"
    return f"{keys} · {back}{', answers are kept' if draft.number else ''}"
