"""The body of a question: scrolls, takes the room there is, and knows which of its lines have been on the screen."""

from collections.abc import Callable, Sequence

from textual.events import Resize
from textual.message import Message
from textual.strip import Strip

from assent.front.tui.line_view import LineView
from assent.front.tui.question_view import QuestionView
from assent.front.tui.seen_lines import SeenLines
from assent.front.tui.text_style import TextStyler

BODY_SHARE = 0.55
"""Of the screen's height, at most."""
MIN_BODY = 1


class QuestionLines(LineView):
    """The body of the question. `seen` is true once every line has been on the screen."""

    class Seen(Message):
        """More of the question has been on the screen, perhaps all of it."""

    def __init__(self, styler: Callable[[], TextStyler], room: Callable[[], int]) -> None:
        super().__init__(id="question-body")
        self.can_focus = False
        self._styler = styler
        self._room = room
        self.question: QuestionView | None = None
        self._known = False
        """Whether all of it was seen before these lines were drawn."""
        self._looked = SeenLines()

    def put(self, question: QuestionView, *, seen: bool = False) -> None:
        self.question = question
        self._known = seen
        self._looked = SeenLines()
        self.scroll_to(y=0, animate=False, immediate=True)
        self.redraw()

    def compose_lines(self, width: int) -> Sequence[Strip]:
        return () if self.question is None else self.question.lines(self._styler(), width)

    def redraw(self) -> None:
        before = (self._drawn_width, len(self._strips))
        super().redraw()
        if before != (self._drawn_width, len(self._strips)):
            self._changed()
        self.fit()

    def _changed(self) -> None:
        """The lines after the width or the view has changed: which of them were seen is unknown."""
        self._known |= self._looked.all_for_good
        self._looked = SeenLines(len(self._strips))
        if not self._known:
            self.scroll_to(y=0, animate=False, immediate=True)

    def fit(self) -> None:
        """As high as the text, within the space left by the lines around it."""
        low = self.screen.has_class("-low")
        share = self.screen.size.height if low else int(self.screen.size.height * BODY_SHARE)
        self.styles.height = max(min(len(self._strips), share, self._room()), MIN_BODY)
        self.call_after_refresh(self.look)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.look()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.look()

    def show_part(self, place: int) -> None:
        """Scrolls to an option, if it is not completely on the screen."""
        tops = self.question.tops if self.question is not None else []
        top, end, shown = *tops[place : place + 2], self.scroll_offset.y
        if top < shown or end > shown + self.size.height:
            self.scroll_to(y=top if top < shown else end - self.size.height, animate=False, immediate=True)

    def look(self) -> None:
        """Records what is on the screen; what was seen stays seen."""
        covered = not self.screen.is_active
        if self._known or covered or self.question is None or not self.size.height:
            return
        self._looked.total = len(self._strips)
        self._looked.look(self.scroll_offset.y, self.size.height)
        self.post_message(self.Seen())

    def look_at_all(self) -> None:
        """Everything was seen on a screen of its own."""
        self._known = True
        self.post_message(self.Seen())

    @property
    def seen(self) -> bool:
        return self._known or (self._looked.total > 0 and self._looked.all)

    @property
    def unseen(self) -> int:
        return 0 if self.seen else self._looked.unseen
