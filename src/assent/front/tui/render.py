"""Draws the items of the transcript, and caches the result until the item or the width changes."""

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from msgspec import Struct
from rich.text import Text
from textual.strip import Strip
from textual.style import Style as VisualStyle

from assent.app.call_states import ToolCall
from assent.app.wording import attached_words, count, safe
from assent.front.tui.call_view import draw_call
from assent.front.tui.hanging import hanging
from assent.front.tui.prompt.paste import MAX_CHARACTERS, is_long, line_count
from assent.front.tui.reply import GrowingReply
from assent.front.tui.text_style import TextStyler, ends, indented, shaded
from assent.front.tui.transcript_model import CallItem, ContentItem, Item, NoteItem, PromptItem, ReplyItem, ThoughtItem

Calls = Callable[[], Mapping[str, ToolCall]]


class _Drawn(Struct):
    version: int
    width: int
    unfolded: bool
    strips: list[Strip]
    growing: GrowingReply | None = None


class ItemRenderer:
    def __init__(self, styler: TextStyler, calls: Calls) -> None:
        self._styler = styler
        self._calls = calls
        self._drawn: WeakKeyDictionary[Item, _Drawn] = WeakKeyDictionary()

    def use(self, styler: TextStyler) -> None:
        self._styler = styler
        self._drawn.clear()

    @property
    def kept(self) -> int:
        """How many items are cached."""
        return len(self._drawn)

    def forget(self, item: Item) -> None:
        self._drawn.pop(item, None)

    def lines(self, item: Item, width: int) -> list[Strip]:
        drawn = self._drawn.get(item)
        if drawn is not None and (drawn.version, drawn.width, drawn.unfolded) == (item.version, width, item.unfolded):
            return drawn.strips
        growing = drawn.growing if drawn is not None and drawn.width == width else None
        if isinstance(item, ReplyItem):
            growing = growing or GrowingReply(self._styler, width)
            strips = growing.lines(item.text)
        else:
            strips = self._drawn_safely(item, width)
        keep = growing if isinstance(item, ReplyItem) and not item.finished else None
        self._drawn[item] = _Drawn(item.version, width, item.unfolded, strips, keep)
        return strips

    def _drawn_safely(self, item: Item, width: int) -> list[Strip]:
        """Whatever is in the log, the session can be opened and the rest of it is shown."""
        try:
            return self._draw(item, width)
        except Exception as error:
            words = f"! This cannot be shown ({type(error).__name__})."
            return self._styler.text(words, self._styler.palette.bad, width)

    def _draw(self, item: Item, width: int) -> list[Strip]:
        match item:
            case PromptItem():
                return self._prompt(item, width)
            case ThoughtItem():
                return self._thoughts(item, width)
            case NoteItem():
                return self._note(item, width)
            case ContentItem():
                style = VisualStyle()
                return [Strip(line.render_segments(style)) for line in hanging(item.content, width - 1)]
            case CallItem():
                call = self._calls().get(item.call_id)
                return [] if call is None else draw_call(self._styler, call, width, unfolded=item.unfolded)
            case _:
                return []

    def _prompt(self, item: PromptItem, width: int) -> list[Strip]:
        if is_long(item.shown) and not item.unfolded:
            lines = [self._one_line(item.shown, width - 3)]
        else:
            lines = self._styler.text((item.text if item.unfolded else item.shown).rstrip(), "bold", width - 3)
        if along := attached_words(item.attached):
            lines += self._styler.text(along, self._styler.palette.dim, width - 3)
        return shaded(indented(lines, 2, "❯", self._styler.palette.accent), width, self._styler.palette.shade)

    def _one_line(self, text: str, width: int) -> Strip:
        """The first line of a long text, and how much follows."""
        first, _, rest = text.strip().partition("\n")
        more = f"… {count(line_count(rest), 'more line')} ▸" if rest else f"… {len(text):,} characters ▸"
        left = Text(safe(first[:MAX_CHARACTERS], "label"), style="bold")
        return ends(left, Text(more, style=self._styler.palette.dim), width, self._styler)

    def _thoughts(self, item: ThoughtItem, width: int) -> list[Strip]:
        """Collapsed: the newest subject. Expanded: all thoughts."""
        styler, dim = self._styler, self._styler.palette.dim
        if not item.unfolded:
            subject, description = item.thoughts[-1]
            line = Text(_in_short(subject or description), style=f"italic {dim}", no_wrap=True, overflow="ellipsis")
            return indented(styler.lines(line, width - 2), 2, "✻", dim)
        lines: list[Strip] = []
        for subject, description in item.thoughts:
            lines += styler.text(subject, f"bold italic {dim}", width - 2) if subject else []
            lines += styler.text(description, f"italic {dim}", width - 2) if description else []
        return indented(lines, 2, "✻", dim)

    def _note(self, item: NoteItem, width: int) -> list[Strip]:
        palette = self._styler.palette
        style = {"quiet": palette.dim, "info": "", "warning": palette.warn, "error": palette.bad}[item.tone]
        mark = {"quiet": "·", "info": "i", "warning": "!", "error": "✗"}[item.tone]
        inner = width - 2
        lines = self._styler.markdown(item.text, inner) if item.markdown else self._styler.text(item.text, style, inner)
        return indented(lines, 2, mark, style)


def _in_short(text: str) -> str:
    return " ".join(safe(text).split())[:300]
