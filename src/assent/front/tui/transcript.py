"""The conversation on the screen: the newest items of the transcript, and older ones after scrolling up."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Key, Resize
from textual.message import Message
from textual.strip import Strip

from assent.front.tui.line_view import LineView
from assent.front.tui.render import ItemRenderer
from assent.front.tui.transcript_model import CallItem, Item, PromptItem, ReplyItem, TranscriptModel
from assent.front.tui.typed_elsewhere import TypedElsewhere, letter

WINDOW = 300
"""About how many lines are drawn, in whole items; scrolling up adds as many again."""
REDRAW_SECONDS = 1 / 15
MORE = "  │ …"
"""How a line begins that replaces lines that are left out; a click shows them all."""
NEW_BELOW = "↓ new below · Ctrl-End"


class Transcript(LineView):
    FOCUS_ON_CLICK = False
    """After a click here, keys still go to the input; Ctrl-Up moves the focus here."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", "earlier", show=False),
        Binding("down,j", "select(1)", "later", show=False),
        Binding("enter,space", "fold", "expand or collapse", show=False),
        Binding("v", "view", "show on the whole screen", show=False),
        Binding("c", "copy", "copy", show=False),
        Binding("slash", "app.search", "search", show=False),
        Binding("home", "scroll_home", "to the start", show=False),
        Binding("end", "scroll_end", "to the end", show=False),
    ]

    class Wanted(Message):
        """The person wants to read an item on the whole screen, or to copy it."""

        def __init__(self, what: Literal["view", "copy"], item: Item) -> None:
            super().__init__()
            self.what: Literal["view", "copy"] = what
            self.item = item

    def __init__(self, transcript_model: TranscriptModel, renderer: ItemRenderer, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._types = False
        """Whether a letter that means nothing here was typed: the next ones belong to it until the focus has moved."""
        self.transcript_model = transcript_model
        self.renderer = renderer
        self._wanted = WINDOW
        self._tops: list[int] = []
        self._items: list[Item] = []
        self._selected: Item | None = None
        self._stale = False
        self._follows = True
        """Whether the newest line stays visible: until the person scrolls up, and again once back at the end."""
        self._new_below = False
        """Whether something was added that the person, who reads further up, has not seen."""

    def show(self, transcript_model: TranscriptModel) -> None:
        """Shows another transcript from now on."""
        self.transcript_model, self._wanted, self._selected = transcript_model, WINDOW, None
        self._follows, self._new_below = True, False
        self.redraw_now()

    # --- drawing ---

    def changed(self) -> None:
        """The transcript has changed; several changes in a row are drawn together."""
        if not self._stale:
            self._stale = True
            self.set_timer(REDRAW_SECONDS, self.redraw_now)

    def redraw_now(self) -> None:
        self._stale = False
        if self._follows:  # back at the end, older items are no longer needed
            self._wanted = WINDOW
        before = len(self._strips)
        self.redraw()
        self._new_below |= not self._follows and len(self._strips) > before

    def go_to_end(self) -> None:
        """Shows the newest line, and keeps it visible."""
        self._follows, self._new_below = True, False
        self.redraw_now()

    def has_passed(self, item: Item) -> bool:
        """Whether it begins above what is on the screen."""
        return item not in self._items or self._top_of(item) < self.scroll_offset.y

    def redraw(self) -> None:
        follows = self._follows
        super().redraw()
        if follows:
            self._to_end()

    def _to_end(self) -> None:
        self.scroll_end(animate=False, immediate=True, force=True)  # the scrollbar may not exist yet
        self._follows = True

    def on_resize(self, event: Resize) -> None:
        follows = self._follows
        super().on_resize(event)
        if follows:
            self.call_after_refresh(self._to_end)

    def compose_lines(self, width: int) -> Sequence[Strip]:
        drawn = [
            (item, strips) for item, strips in self._newest(width) if strips
        ]  # a reply may consist of a line break only
        items = [item for item, _ in drawn]
        self._forget_all_but(items)
        self._items, self._tops = items, []
        lines: list[Strip] = []
        before: Item | None = None
        for item, strips in drawn:
            if before is not None and not are_close(before, item):
                lines.append(Strip([]))
            self._tops.append(len(lines))
            lines.extend(strips)
            before = item
        return lines

    def _newest(self, width: int) -> list[tuple[Item, list[Strip]]]:
        """From the end backwards until there are enough lines; nothing is dropped while the person reads further up."""
        first = self._items[0] if self._items and not self._follows else None
        drawn: list[tuple[Item, list[Strip]]] = []
        lines = 0
        for item in reversed(self.transcript_model.items):
            if lines >= self._wanted and first is None:
                break
            strips = self._marked(item, width)
            drawn.append((item, strips))
            lines += len(strips)
            first = None if item is first else first
        drawn.reverse()
        return drawn

    def _forget_all_but(self, items: Sequence[Item]) -> None:
        for item in set(self._items).difference(items):
            self.renderer.forget(item)

    def _marked(self, item: Item, width: int) -> list[Strip]:
        strips = self.renderer.lines(item, width)
        if item is self._selected and self.has_focus and strips:
            head = Segment(strips[0].text.rstrip().ljust(1), Style(reverse=True))
            return [Strip([head]).extend_cell_length(width, head.style), *strips[1:]]
        return strips

    def render_line(self, y: int) -> Strip:
        if self._new_below and y == self.size.height - 1:
            return self._mark_below()
        return super().render_line(y)

    def _mark_below(self) -> Strip:
        style = self.visual_style.rich_style + Style(reverse=True)
        return Strip([Segment(NEW_BELOW.center(self.size.width), style)]).crop(0, self.size.width)

    # --- older items ---

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value or new_value >= self.max_scroll_y:
            self._follows = new_value >= self.max_scroll_y
            self._new_below &= not self._follows
        if new_value <= 0 < old_value and len(self._items) < len(self.transcript_model.items):
            self._load_more()

    def _load_more(self) -> None:
        before = len(self._strips)
        self._wanted = before + WINDOW
        self.redraw()
        self.scroll_to(y=len(self._strips) - before, animate=False, immediate=True)

    # --- selecting, expanding and collapsing ---

    def on_focus(self) -> None:
        self._types = False
        if self._selected not in self._items:
            calls = (item for item in reversed(self._items) if item.foldable)
            self._selected = next(calls, self._items[-1] if self._items else None)
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()

    def action_select(self, step: int) -> None:
        among = [item for item in self._items if _is_selectable(item)]
        if not among:
            self.scroll_relative(y=step, animate=False)
            return
        place = among.index(self._selected) if self._selected in among else len(among)
        self._selected = among[min(max(place + step, 0), len(among) - 1)]
        self.redraw()
        self.scroll_to(y=max(self._top_of(self._selected) - self.size.height // 2, 0), animate=False)

    def action_scroll_home(self) -> None:
        self.scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        self.scroll_end(animate=False)

    def action_view(self) -> None:
        if self._selected is not None:
            self.post_message(self.Wanted("view", self._selected))

    def action_copy(self) -> None:
        if self._selected is not None:
            self.post_message(self.Wanted("copy", self._selected))

    def action_fold(self) -> None:
        if self._selected is not None and self._selected.foldable:
            self.fold(self._selected)

    def fold(self, item: Item) -> None:
        item.unfolded = not item.unfolded
        self.redraw()

    def fold_all(self) -> None:
        """Expands everything shown, or collapses it if nothing is left to expand."""
        foldable = [item for item in self._items if item.foldable]
        unfold = not all(item.unfolded for item in foldable)
        for item in foldable:
            item.unfolded = unfold
        self.redraw_now()

    def on_key(self, event: Key) -> None:
        if (text := letter(event)) and (self._types or event.key not in self._bindings.key_to_bindings):
            event.stop()
            self._types = True
            self.post_message(TypedElsewhere(text))

    def on_click(self, event: Click) -> None:
        if self._new_below and event.y == self.size.height - 1:
            self.go_to_end()
            return
        place = event.y + self.scroll_offset.y
        index = bisect_right(self._tops, place) - 1
        if index < 0 or self.screen.get_selected_text():
            return
        item = self._items[index]
        if item.foldable and self._tops[index] == place:
            self.fold(item)
        elif isinstance(item, CallItem) and place < len(self._strips) and self._strips[place].text.startswith(MORE):
            self.post_message(self.Wanted("view", item))

    def _top_of(self, item: Item) -> int:
        return self._tops[self._items.index(item)]


def _is_selectable(item: Item) -> bool:
    return item.foldable or isinstance(item, PromptItem | ReplyItem)


def are_close(before: Item, item: Item) -> bool:
    """Calls have no blank line between them; everything else has one around it."""
    return isinstance(before, CallItem) and isinstance(item, CallItem)
