"""One list screen for everything: a title, a filter, aligned rows, actions by key, and a line that explains the keys.

It knows no session: rows come from a source, and are reloaded after every action and whenever `feed` says so. All text
is made safe here, and never read as markup.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantFocus, Key, Resize
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from assent.app.wording import safe
from assent.front.tui.session_feed import Listen
from assent.front.tui.steady_input import SteadyInput
from assent.front.tui.typed_elsewhere import typed_early

GAP = "  "
MIN_WIDTH = 4
"""Cells that a column keeps when space is short."""
READABLE = 16
"""Cells of the columns that stay, below which, as below two fifths of the line, one that can be spared leaves."""


CHROME_LINES = 5
"""Lines for border, filter and titles, and one line of the screen behind."""
DETAIL_LINES = 4
TALL_SCREEN = 18
"""Shorter screens show only one line of detail."""


class Row(Struct, frozen=True):
    key: str
    cells: tuple[str, ...]
    detail: str = ""
    """Details, shown below the list while the row is highlighted."""
    style: str = ""


class Column(Struct, frozen=True):
    title: str
    right: bool = False
    spare: int = 0
    """A column that can be spared is never cut: it leaves when space is short, those with the highest number first, or
    when all rows say the same. 0: it stays."""


class Action(Struct, frozen=True):
    """`enter` or a letter. Without `run`, the list closes and returns the choice."""

    key: str
    label: str
    run: Callable[[Row], Awaitable[None]] | None = None


class Chosen(Struct, frozen=True):
    action: str
    row: Row


RowSource = Callable[[], Awaitable[Sequence[Row]]]


# --- layout, pure ---


def widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """As wide as the widest cell; if that is too much, the widest columns shrink first."""
    if not rows:
        return []
    wanted = [max(Content(cell).cell_length for cell in column) for column in zip(*rows, strict=True)]
    excess = sum(wanted) + len(GAP) * (len(wanted) - 1) - room
    while excess > 0 and max(wanted) > MIN_WIDTH:
        wanted[wanted.index(max(wanted))] -= 1
        excess -= 1
    return wanted


def fitting(rows: Sequence[Sequence[str]], columns: Sequence[Column], room: int) -> dict[int, int]:
    """The columns to show, with their widths. `rows`: their titles, too, come first. A column without text has no
    place.
    """
    titles, *said = rows
    cells = list(zip(*said, strict=True)) if said else [(title,) for title in titles]
    kept = [n for n, column in enumerate(cells) if any(column) and not (columns[n].spare and _all_same(column))]
    leaving = sorted((n for n in kept if columns[n].spare), key=lambda n: columns[n].spare)
    while True:
        spared = {n: _widest(rows, n) for n in leaving}
        stay = [n for n in kept if not columns[n].spare]
        left = room - sum(spared.values()) - len(GAP) * len(spared)
        wanted = sum(_widest(rows, n) for n in stay) + len(GAP) * (len(stay) - 1)
        if not leaving or left >= min(wanted, max(READABLE, room * 2 // 5)):
            sizes = dict(zip(stay, widths([[row[n] for n in stay] for row in rows], left), strict=True))
            return {n: (sizes | spared)[n] for n in kept if n in sizes or n in spared}
        leaving.pop()


def _all_same(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and len(set(cells)) == 1


def _widest(rows: Sequence[Sequence[str]], n: int) -> int:
    return max(Content(row[n]).cell_length for row in rows)


def line(cells: Sequence[str], columns: Sequence[Column], sizes: Sequence[int], style: str = "") -> Content:
    fitted = [_fitted(cell, size, column.right) for cell, column, size in zip(cells, columns, sizes, strict=True)]
    whole = Content(GAP).join(fitted)
    return whole.stylize(style) if style else whole


def _fitted(cell: str, size: int, right: bool) -> Content:
    content = Content(cell).truncate(size, ellipsis=True)
    missing = size - content.cell_length
    return content.pad_left(missing) if right else content.pad_right(missing)


def matches(row: Row, wanted: str) -> bool:
    """Whether every word of the filter occurs in the row."""
    text = " ".join((*row.cells, row.detail)).casefold()
    return all(word in text for word in wanted.casefold().split())


# --- the screen ---


class ListScreen(ModalScreen[Chosen | None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Close", show=False)]

    DEFAULT_CSS = """
    ListScreen { align: center middle; }
    ListScreen #box { width: 96%; max-width: 120; height: auto; border: round $accent; padding: 0 1; }
    ListScreen #box { background: $surface; }
    ListScreen Input, ListScreen Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    ListScreen Input:focus { background: $boost; }
    ListScreen #columns { color: $text-muted; height: 1; }
    ListScreen OptionList, ListScreen OptionList:focus { border: none; padding: 0; background: $surface; height: auto; }
    ListScreen OptionList > .option-list--option-highlighted,
    ListScreen OptionList:focus > .option-list--option-highlighted { background: $primary 30%; color: $foreground; }
    ListScreen #empty { color: $text-muted; padding: 1 0; }
    ListScreen #detail { color: $text-muted; height: auto; border-top: solid $panel; }
    ListScreen #hint { color: $text-muted; height: auto; }
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        source: RowSource,
        actions: Sequence[Action] = (),
        *,
        empty: str = "There is nothing here.",
        feed: Listen | None = None,
        on_highlight: Callable[[Row], None] | None = None,
        start: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._columns = tuple(columns)
        self._source = source
        self._actions = {action.key: action for action in actions}
        self._empty = empty
        self._news = feed
        self._on_highlight = on_highlight
        self._start = start
        self.rows: list[Row] = []
        self.shown: list[Row] = []
        """Those that match the filter."""
        self._drawn: tuple[object, ...] = ()
        self._problem = ""
        """Why there are no rows, if loading failed."""
        self._leads_to_filter = False
        """A slash was pressed in the list; the filter has the focus, or is about to get it."""
        self._loading = False
        self._stale = True
        self._stop_listening: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield SteadyInput(placeholder="/ to filter", id="filter")
            yield Static(id="columns", markup=False)
            yield OptionList(markup=False)
            yield Static(Content("Looking…"), id="empty", markup=False)
            yield Static(id="detail", markup=False)
            yield Static(Content(self._hint()), id="hint", markup=False)

    def _hint(self) -> str:
        words = [f"{'Enter' if key == 'enter' else key} {action.label}" for key, action in self._actions.items()]
        return " · ".join([*words, "/ filter", "Esc close"])

    def on_mount(self) -> None:
        self.query_one("#box").border_title = Content(safe(self._title, "label"))
        self._list.focus()
        if self._news is not None:
            self._stop_listening = self._news(self.reload)
        self.reload()

    def on_unmount(self) -> None:
        self._stop_listening()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def up_to_date(self) -> bool:
        """Whether the rows are the latest from the source."""
        return self.is_attached and not self._stale and not self._loading

    @property
    def highlighted(self) -> Row | None:
        place = self._list.highlighted
        return self.shown[place] if place is not None and place < len(self.shown) else None

    # --- rows ---

    def reload(self) -> None:
        """Loads the rows again; several requests during one load become one."""
        self._stale = True
        if not self._loading and self.is_attached:
            self._loading = True
            self.run_worker(self._load, group="rows")  # no coroutine: a screen that closes at once never awaits it

    async def _load(self) -> None:
        try:
            while self._stale:
                self._stale = False
                found = await self._ask()
                self.rows = [
                    Row(row.key, tuple(safe(cell, "label") for cell in row.cells), row.detail, row.style)
                    for row in found
                ]
                self._draw()
        finally:
            self._loading = False

    async def _ask(self) -> Sequence[Row]:
        try:
            self._problem = ""
            return await self._source()
        except Exception as error:  # whatever it is, the person is told and the app continues
            self._problem = f"The list could not be loaded: {safe(str(error))}"
            return ()

    def _draw(self) -> None:
        """Shows the rows that match the filter; the highlight stays on its row."""
        if not self.query(OptionList):
            return  # rows arrived while the screen was closing
        before = self.highlighted
        wanted = self.query_one(Input).value
        self.shown = [row for row in self.rows if matches(row, wanted)]
        self._draw_lines()
        keys = [row.key for row in self.shown]
        key = before.key if before is not None else self._start
        if keys:
            self._list.highlighted = keys.index(key) if key in keys else min(self._list.highlighted or 0, len(keys) - 1)
        self._draw_notes(wanted)
        self._tell()

    def _draw_lines(self) -> None:
        titles = tuple(column.title for column in self._columns)
        sizes = fitting([titles, *(row.cells for row in self.shown)], self._columns, self._room())
        columns = [self._columns[n] for n in sizes]
        lines = [line([row.cells[n] for n in sizes], columns, [*sizes.values()], row.style) for row in self.shown]
        drawn = (tuple(sizes.items()), tuple(self.shown))
        if drawn != self._drawn:
            self._drawn = drawn
            place = self._list.highlighted
            self._list.set_options([Option(content) for content in lines])
            self._list.highlighted = place if place is not None and place < len(lines) else None
        header = self.query_one("#columns", Static)
        header.update(line([titles[n] for n in sizes], columns, [*sizes.values()]))
        header.display = bool(self.shown) and any(titles)

    def _draw_notes(self, wanted: str) -> None:
        empty = self.query_one("#empty", Static)
        empty.display = not self.shown
        nothing = f"Nothing matches {safe(wanted, 'label')!r}." if self.rows else self._problem or self._empty
        empty.update(Content(nothing))
        self._fit()

    def _fit(self) -> None:
        """Gives the rows the space that everything else leaves."""
        roomy = self.size.height >= TALL_SCREEN
        detail = (DETAIL_LINES if roomy else 1) + 1 if any(row.detail for row in self.shown) else 0
        hint = -(-Content(self._hint()).cell_length // self._room())
        self.query_one("#detail").styles.max_height = detail
        self._list.styles.max_height = max(3, self.size.height - CHROME_LINES - detail - hint)

    def _room(self) -> int:
        return max(20, self.query_one("#box").content_size.width - 2)  # two cells are for the list's scroll bar

    def _tell(self) -> None:
        row = self.highlighted
        detail = self.query_one("#detail", Static)
        detail.display = row is not None and bool(row.detail)
        detail.update(Content(safe(row.detail) if row is not None else ""))
        if row is not None and self._on_highlight is not None:
            self._on_highlight(row)

    # --- input ---

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._draw)

    @on(Input.Changed)
    def _filter(self) -> None:
        self._draw()

    @on(Input.Submitted)
    def _leave_filter(self) -> None:
        self._list.focus()

    @on(OptionList.OptionHighlighted)
    def _highlight_moved(self) -> None:
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._act("enter")

    def on_key(self, event: Key) -> None:
        """Keys may arrive together. Arrows are carried out by the app, so what a letter does must wait for those before
        it; and what follows a slash belongs to the filter, even if the list still has the focus.
        """
        field = self.query_one(Input)
        filtering = field.has_focus or self._leads_to_filter
        if filtering and event.key in ("down", "up", "tab"):
            self._list.focus()
        elif self._leads_to_filter and typed_early(event, field):
            return
        elif not filtering and event.key in ("slash", "ctrl+f"):
            self._leads_to_filter = True
            field.focus()
        elif not filtering and event.key != "enter" and event.key in self._actions:
            self.app.call_later(self._act, event.key)  # pyright: ignore[reportUnknownMemberType]
        else:
            return
        event.stop()
        event.prevent_default()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        if event.widget is self._list:
            self._leads_to_filter = False

    def _act(self, key: str) -> None:
        action, row = self._actions.get(key), self.highlighted
        if action is None or row is None:
            return
        if action.run is None:
            self.dismiss(Chosen(key, row))
        else:
            self.run_worker(partial(self._run, action.run, row), group="action")

    async def _run(self, run: Callable[[Row], Awaitable[None]], row: Row) -> None:
        await run(row)
        self.reload()

    def action_back(self) -> None:
        """Leaves the filter first, then the list."""
        field = self.query_one(Input)
        if field.value or field.has_focus:
            field.value = ""
            self._list.focus()
        else:
            self.dismiss(None)
