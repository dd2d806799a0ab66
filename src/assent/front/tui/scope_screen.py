"""How far an "always" reaches: a scope can be granted only once all of its words have been on the screen."""

from collections.abc import Callable

from rich.text import Text
from textual.app import ComposeResult
from textual.events import Key, Resize
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from assent.app.question_text import scope_in_words
from assent.app.wording import one_line
from assent.approval import Grant
from assent.front.tui.answer_screens import AnswerBox, AnswerList, AnswerScreen
from assent.front.tui.seen_lines import SeenLines, Span

HOW = "Enter or a number grants it · Esc back"
UNREAD = "This was not on the screen in full. Read it, then press again · Esc back"


class ScopeList(AnswerList):
    """Knows which of its options have been on the screen from their first line to their last."""

    def __init__(self, clicked: Callable[[int], bool], *options: Option) -> None:
        super().__init__(clicked, *options)
        self._seen = SeenLines()

    def on_resize(self, event: Resize) -> None:
        """The lines are other ones now."""
        self._seen = SeenLines()
        self.call_after_refresh(self.look)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.call_after_refresh(self.look)

    def look(self) -> None:
        """What is on the screen now; the box around the list may be too small for it."""
        if not self.is_attached or self.size.width == 0:
            return
        self._update_lines()
        self._seen.total = self.virtual_size.height
        placed = self.screen.find_widget(self)
        visible = placed.visible_region
        self._seen.look(self.scroll_offset.y + visible.y - placed.region.y, visible.height)

    def was_shown(self, place: int) -> bool:
        return self._seen.covers(self._span(place))

    def show_more(self, place: int) -> None:
        """Scrolls to what has not been seen of this option: to its beginning, if it can be seen as a whole."""
        first, last = span = self._span(place)
        fits = last - first <= self.scrollable_content_region.height
        unseen = first if fits else self._seen.first_unseen(span)
        self.scroll_to(y=unseen, animate=False, immediate=True, force=True)

    def _span(self, place: int) -> Span:
        self._update_lines()
        first = self._index_to_line[place]
        return first, first + self._heights[place]


class ScopeScreen(AnswerScreen[Grant]):
    """Chooses one of the proposed grants. Each one's exact scope is shown, narrowest first."""

    DEFAULT_CSS = """
    ScopeScreen OptionList, ScopeScreen OptionList:focus { max-height: 60vh; }
    """

    def compose(self) -> ComposeResult:
        with AnswerBox():
            yield Label("Always allow:")
            yield ScopeList(
                self.clicked,
                *(Option(_reach(number, scope), scope.id) for number, scope in enumerate(self.call.approval.scopes, 1)),
            )
            yield Static(HOW, classes="hint")

    @property
    def _list(self) -> ScopeList:
        return self.query_one(ScopeList)

    def took_key(self, event: Key) -> None:
        number = int(event.character) if event.character and event.character in "123456789" else 0
        if not 1 <= number <= len(self.call.approval.scopes):
            return
        shown = self._list.was_shown(number - 1)
        self._list.highlighted = number - 1
        if not self.was_quiet and shown:
            self.say_too_fast()
        else:
            self._grant(number - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._grant(event.option_index)

    def _grant(self, place: int) -> None:
        if self._list.was_shown(place):
            self.dismiss(self.call.approval.scopes[place])
            return
        self._list.show_more(place)
        self.query_one(".hint", Static).update(UNREAD)  # a message in the corner would cover what is to be read


def _reach(number: int, scope: Grant) -> Text:
    return Text(f"{number}. {one_line(scope_in_words(scope))}")
