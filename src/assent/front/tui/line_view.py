"""Scrolling lines: one widget for any number of them; only visible lines cost anything."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.events import Click, Resize, TextSelected
from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from assent.front.tui.words import line_in, word_at


class LineView(ScrollView, can_focus=True):
    """Subclasses provide the content with `compose_lines(width)`, and call `redraw` when it changes."""

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    LineView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: Sequence[Strip] = ()
        self._drawn_width = 0

    def compose_lines(self, width: int) -> Sequence[Strip]:
        return ()

    @property
    def lines(self) -> Sequence[Strip]:
        """All that are drawn, whether or not they are visible."""
        return self._strips

    @property
    def line_width(self) -> int:
        """The width of a line: the scrollbar's column is always kept free, so that nothing moves when it appears."""
        return max(self.scrollable_content_region.width if self.show_vertical_scrollbar else self.content_width - 1, 1)

    @property
    def content_width(self) -> int:
        return self.content_size.width or 80

    def redraw(self) -> None:
        width = self.line_width
        self._strips = self.compose_lines(width)
        self._drawn_width = width
        self.virtual_size = Size(width, len(self._strips))
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        if self.line_width != self._drawn_width:
            self.redraw()

    def on_mount(self) -> None:
        super().on_mount()
        self.redraw()

    # --- called by Textual ---

    @property
    def allow_select(self) -> bool:
        return True

    def render_line(self, y: int) -> Strip:
        place = y + self.scroll_offset.y
        base = self.visual_style.rich_style  # kept from line to line
        width = self.size.width
        if place >= len(self._strips):
            return Strip.blank(width, base)
        strip = self._strips[place].crop_extend(0, width, None).apply_style(base)
        return self._with_selection(strip, place).apply_offsets(0, place)

    def _with_selection(self, strip: Strip, place: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(place) if selection is not None else None
        if span is None:
            return strip
        start = strip.index_to_cell_position(span[0])
        end = strip.cell_length if span[1] == -1 else strip.index_to_cell_position(span[1])
        return Strip.join([strip.crop(0, start), _reversed(strip.crop(start, end)), strip.crop(end)])

    def on_click(self, event: Click) -> None:
        """Two clicks select a word, three a line. Textual would select everything, also what is not on the screen."""
        if event.chain < 2:
            return
        event.prevent_default()
        widget, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if widget is not self or offset is None or offset.y >= len(self._strips):
            return
        text = self._strips[offset.y].text
        span = word_at(text, offset.x) if event.chain == 2 else line_in(text)
        if span is not None:
            first, last = (Offset(x, offset.y) for x in span)
            self.screen.selections = {self: Selection(first, last)}
            self.post_message(TextSelected())

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start is not None else 0
        end = selection.end.y + 1 if selection.end is not None else len(self._strips)
        lines = [*[""] * first, *(strip.text.rstrip() for strip in self._strips[first:end])]
        return selection.extract("\n".join(lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def _reversed(strip: Strip) -> Strip:
    """As terminals show a selection: visible in every look, also without colours, and over any background."""
    return Strip([Segment(one.text, _reverse(one.style or Style()), one.control) for one in strip], strip.cell_length)


def _reverse(style: Style) -> Style:
    return style + Style(reverse=not style.reverse)
