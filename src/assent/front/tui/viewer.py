"""The viewer: any output, change, file or conversation on the whole screen, with search, wrapping and copying.

It shows lines and knows nothing about where they come from: a `Document` draws itself at any width.
"""

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.style import Style
from rich.text import Text
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key, Resize
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Static

from assent.app.wording import count, safe
from assent.front.tui.line_view import LineView
from assent.front.tui.long_text import LongRows
from assent.front.tui.steady_input import SteadyInput
from assent.front.tui.text_style import TextStyler, ends
from assent.front.tui.typed_elsewhere import typed_early

SIDE_STEP = 8
MAX_WIDTH = 2_000
"""Columns of a line that is not wrapped."""
BEGINNING = 0.2
"""How much of what is shown of a long output is its beginning; the rest is its end."""


class Document(Struct, frozen=True):
    """Something to read: `draw` makes its lines at a width, `text` is what is copied."""

    title: str
    draw: Callable[[TextStyler, int], Sequence[Strip]]
    text: str
    whole: "Callable[[], Awaitable[Document]] | None" = None
    """Reads all of it, if this is only a part; may raise, with a message for the person."""


class ViewerLines(LineView):
    """The lines, with what was searched for and what is marked for copying."""

    class Resized(Message):
        """There is more room, or less: the hint below may have become longer."""

    def __init__(self, document: Document, styler: Callable[[], TextStyler]) -> None:
        super().__init__(id="viewer-lines")
        self.can_focus = False  # the keys are the screen's
        self.document = document
        self._styler = styler
        self.wraps = True
        self.left = 0
        self.found: list[int] = []
        self.current = -1
        self.mark: int | None = None
        """The line at which marking began, and the one it has reached."""
        self.cursor = 0

    def compose_lines(self, width: int) -> Sequence[Strip]:
        if not self.wraps:
            longest = max((len(line) for line in self.document.text.split("\n")), default=0)
            width = min(max(longest + 8, width), MAX_WIDTH)
        return self.document.draw(self._styler(), width)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        place = y + self.scroll_offset.y
        if place >= len(self._strips):
            return super().render_line(y)
        shown = self._strips[place].crop(self.left) if self.left else self._strips[place]
        strip = self._emphasised(shown, place)
        return self._with_selection(strip, place).apply_offsets(0, place)

    def _emphasised(self, strip: Strip, place: int) -> Strip:
        fitted = strip.crop_extend(0, self.size.width, None).apply_style(self.visual_style.rich_style)
        marked = self.mark is not None and min(self.mark, self.cursor) <= place <= max(self.mark, self.cursor)
        if marked or (self.found and place == self.found[self.current]):
            return fitted.apply_style(Style(reverse=True))
        return fitted.apply_style(Style(underline=True)) if self._is_found(place) else fitted

    def _is_found(self, place: int) -> bool:
        near = bisect_left(self.found, place)
        return near < len(self.found) and self.found[near] == place

    def show_whole(self, document: Document) -> None:
        """What is on the screen stays there, about: the part that was shown had the beginning and the end of it."""
        before, top = len(self._strips), self.scroll_offset.y
        self.document = document
        self.found, self.current, self.mark = [], -1, None
        self.redraw()
        if top > before * BEGINNING:
            self.scroll_to(y=len(self._strips) - (before - top), animate=False, immediate=True)

    # --- search ---

    def search(self, wanted: str) -> int:
        """Goes to the first line from here that contains it; returns how many do."""
        needle = wanted.casefold()
        self.found = self._rows_with(needle) if needle else []
        here = self.scroll_offset.y
        self.current = next((n for n, line in enumerate(self.found) if line >= here), 0) if self.found else -1
        self._show_found()
        return len(self.found)

    def _rows_with(self, needle: str) -> list[int]:
        if isinstance(self._strips, LongRows):
            return self._strips.rows_with(needle)
        return [n for n, strip in enumerate(self._strips) if needle in strip.text.casefold()]

    def search_again(self, step: int) -> None:
        if self.found:
            self.current = (self.current + step) % len(self.found)
            self._show_found()

    def _show_found(self) -> None:
        if self.found:
            self.scroll_to(y=max(self.found[self.current] - self.size.height // 3, 0), animate=False)
        self.refresh()

    # --- marking ---

    def toggle_mark(self) -> None:
        self.cursor = self._mark_from()
        self.mark = self.cursor if self.mark is None else None
        self.refresh()

    def _mark_from(self) -> int:
        """The match, if it is on the screen; otherwise the first line there."""
        top, match = self.scroll_offset.y, self.found[self.current] if self.found else -1
        return match if top <= match < top + self.size.height else min(top, max(len(self._strips) - 1, 0))

    def move_mark(self, step: int) -> None:
        self.cursor = min(max(self.cursor + step, 0), len(self._strips) - 1)
        top, height = self.scroll_offset.y, self.size.height
        if not top <= self.cursor < top + height:
            self.scroll_to(y=self.cursor if step < 0 else self.cursor - height + 1, animate=False)
        self.refresh()

    @property
    def marked_text(self) -> str:
        if self.mark is None:
            return ""
        first, last = sorted((self.mark, self.cursor))
        return "\n".join(strip.text.rstrip() for strip in self._strips[first : last + 1])


class ViewerScreen(ModalScreen[bool]):
    """Returns whether the whole document has been on the screen, if it is a review."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "close", "close", show=False),
        Binding("down,j", "line(1)", "down", show=False),
        Binding("up,k", "line(-1)", "up", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", "page down", show=False),
        Binding("pageup,b,ctrl+b", "page(-1)", "page up", show=False),
        Binding("end,G", "end", "to the end", show=False, priority=True),
        Binding("home,g", "home", "to the start", show=False, priority=True),
        Binding("right", "side(1)", "to the right, if lines are not wrapped", show=False),
        Binding("left", "side(-1)", "to the left", show=False),
        Binding("w", "wrap", "wrap long lines, or not", show=False),
        Binding("slash", "search", "search", show=False, priority=True),
        Binding("n", "again(1)", "next match", show=False),
        Binding("N", "again(-1)", "previous match", show=False),
        Binding("m", "mark", "mark lines", show=False),
        Binding("c", "copy", "copy what is marked, or everything", show=False),
    ]
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ViewerScreen { background: $background; }
    ViewerScreen #viewer-title { height: 1; padding: 0 1; background: $panel; }
    ViewerScreen #viewer-lines { height: 1fr; padding: 0 0 0 1; background: $background; }
    ViewerScreen #viewer-hint { height: auto; padding: 0 1; color: $text-muted; background: $panel; }
    ViewerScreen Input, ViewerScreen Input:focus { border: none; height: 1; padding: 0 1; display: none; }
    """

    def __init__(self, document: Document, styler: Callable[[], TextStyler], *, search: str | None = None) -> None:
        """`search`: open the search field at once, with this text."""
        super().__init__()
        self._document = document
        self._styler = styler
        self._search = search
        self.said = ""
        """Shown instead of the keys."""
        self._wanted = ""
        """What was searched for last."""
        self._reads = document.whole is not None
        """Whether the rest of the document is still being read."""

    def compose(self) -> ComposeResult:
        yield Static(id="viewer-title", markup=False)
        yield ViewerLines(self._document, self._styler)
        yield SteadyInput(placeholder="search", select_on_focus=False, id="viewer-search")
        yield Static(id="viewer-hint", markup=False)

    def on_mount(self) -> None:
        self.watch(self.lines, "scroll_y", self._moved, init=False)
        if self._search is not None:
            self._open_search(self._search)  # at once: what is typed next belongs there
        self.call_after_refresh(self._begin)
        if self._document.whole is not None:
            self.run_worker(self._read_whole(self._document.whole))

    async def _read_whole(self, whole: Callable[[], Awaitable[Document]]) -> None:
        try:
            self._show_whole(await whole())
        except Exception as error:  # whatever it is, what is shown stays
            self.said = f"Not all of it can be shown: {safe(str(error), 'label')}."
        self._reads = False
        self.label()

    def _show_whole(self, document: Document) -> None:
        self._document = document
        self.lines.show_whole(document)
        if self._wanted:
            self.lines.search(self._wanted)

    def _begin(self) -> None:
        self._moved()
        if self._search is not None:
            self.lines.scroll_end(animate=False, immediate=True)

    def on_key(self, event: Key) -> None:
        """Keys that the search field has handled do not come here."""
        if self._field.display:
            typed_early(event, self._field)

    @property
    def lines(self) -> ViewerLines:
        return self.query_one(ViewerLines)

    @property
    def _field(self) -> Input:
        return self.query_one(Input)

    @property
    def searches(self) -> bool:
        """Whether what is typed is searched for."""
        return self._field.display

    def on_viewer_lines_resized(self) -> None:
        self.call_after_refresh(self._moved)

    def _moved(self) -> None:
        self.label()

    # --- title and hint ---

    def label(self) -> None:
        styler, width = self._styler(), max(self.size.width - 2, 20)
        title = Text(safe(self._document.title, "label"), style=f"bold {styler.palette.accent}")
        place = Text(self.position(), style=styler.palette.dim)
        self.query_one("#viewer-title", Static).update(_as_text(ends(title, place, width, styler)))
        self.query_one("#viewer-hint", Static).update(Text(self.said or self.hint()))

    def position(self) -> str:
        lines, total = self.lines, len(self.lines.lines)
        last = min(lines.scroll_offset.y + lines.size.height, total)
        found = f"match {lines.current + 1} of {len(lines.found):,} · " if lines.found else ""
        return f"{'reading all of it … · ' if self._reads else ''}{found}{last:,} of {count(total, 'line')}"

    def hint(self) -> str:
        if self.lines.mark is not None:
            return "↑ ↓ extend · c copy these lines · m stop marking"
        again = " · n N next, previous" if self.lines.found else ""
        wrap = "don't wrap" if self.lines.wraps else "wrap · ← → move"
        return f"/ search{again} · g G start, end · w {wrap} · m mark lines · c copy all · q close"

    def say(self, words: str) -> None:
        self.said = words
        self.label()

    # --- moving ---

    def action_line(self, step: int) -> None:
        self._move(step)

    def action_page(self, step: int) -> None:
        self._move(step * max(self.lines.size.height - 1, 1))

    def _move(self, step: int) -> None:
        self.said = ""
        if self.lines.mark is not None:
            self.lines.move_mark(step)
        else:
            self.lines.scroll_relative(y=step, animate=False, immediate=True)
        self.label()

    def action_end(self) -> None:
        self._skip_while_searching()
        self._move(len(self.lines.lines))

    def action_home(self) -> None:
        self._skip_while_searching()
        self._move(-len(self.lines.lines))

    def _skip_while_searching(self) -> None:
        """What is searched for may contain a g or a slash."""
        if self._field.display:
            raise SkipAction

    def action_side(self, step: int) -> None:
        self.lines.left = 0 if self.lines.wraps else max(self.lines.left + step * SIDE_STEP, 0)
        self.lines.refresh()

    def action_wrap(self) -> None:
        """What is at the top stays there, about."""
        lines = self.lines
        share = lines.scroll_offset.y / max(len(lines.lines), 1)
        lines.wraps, lines.left, lines.found, lines.mark = not lines.wraps, 0, [], None
        lines.redraw()
        lines.scroll_to(y=int(share * len(lines.lines)), animate=False)
        self.label()

    # --- search ---

    def action_search(self) -> None:
        self._skip_while_searching()
        self._open_search("")

    def _open_search(self, text: str) -> None:
        self._field.value = text
        self._field.display = True
        self._field.focus()

    @on(Input.Submitted)
    def _search_now(self, event: Input.Submitted) -> None:
        self._wanted = event.value
        found = self.lines.search(event.value)
        self._leave_search()
        self.say("" if found or not event.value else f"{safe(event.value, 'label')!r} was not found.")

    def _leave_search(self) -> None:
        self._field.display = False
        self.set_focus(None)

    def action_again(self, step: int) -> None:
        self.lines.search_again(step)
        self.say("")

    # --- copying, closing ---

    def action_mark(self) -> None:
        self.lines.toggle_mark()
        self.say("")

    def action_copy(self) -> None:
        from assent.front.tui.clipboard import copy_text

        text = self.lines.marked_text or self._document.text
        self.say(copy_text(self.app, text))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        self.lines.mark = None
        self.lines.refresh()

    def action_close(self) -> None:
        if self._field.display:
            self._leave_search()
        elif self.lines.mark is not None:
            self.action_mark()
        else:
            self.dismiss(True)


def _as_text(strip: Strip) -> Text:
    return Text.assemble(*((segment.text, segment.style or "") for segment in strip), no_wrap=True)
