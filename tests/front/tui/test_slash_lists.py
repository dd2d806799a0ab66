"""The list screen: layout that fits, a filter, keys, the mouse, and rows that change while it is open."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from textual.app import App
from textual.content import Content
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from assent.front.tui.lists import Action, Chosen, Column, ListScreen, Row, fitting, line, widths
from assent.front.tui.slash.slash_helpers import short_when
from assent.front.tui.small_screens import LineScreen, PageScreen
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("G5")

COLUMNS = (Column("Name"), Column("Size", right=True))


class ListApp(App[None]):
    """Holds one screen and what it was closed with."""

    def __init__(self, screen: "ListScreen | PageScreen | LineScreen") -> None:
        super().__init__()
        self.wanted = screen
        self.closed: list[object] = []

    def on_mount(self) -> None:
        self.push_screen(self.wanted, self.closed.append)

    def text(self) -> list[str]:
        strips = self.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


class Rows:
    """A source whose rows a test can change."""

    def __init__(self, *rows: Row) -> None:
        self.now: Sequence[Row] = rows
        self.told: list[Callable[[], None]] = []

    async def __call__(self) -> Sequence[Row]:
        return self.now

    def listen(self, called: Callable[[], None]) -> Callable[[], None]:
        self.told.append(called)
        return lambda: self.told.remove(called)

    def change(self, *rows: Row) -> None:
        self.now = rows
        for called in self.told:
            called()


@asynccontextmanager
async def shown(screen: ListScreen, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[tuple[ListApp, Pilot[None]]]:
    app = ListApp(screen)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: screen.up_to_date)
        yield app, pilot


async def until(pilot: "Pilot[None]", condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while not condition():
            await pilot.pause()
    await pilot.pause()


def row(name: str, size: str = "1", detail: str = "") -> Row:
    return Row(name, (name, size), detail)


# --- layout ---


def test_columns_are_as_wide_as_their_widest_cell():
    assert widths([("a", "bb"), ("ccc", "d")], 80) == [3, 2]


def test_the_widest_column_gives_way_first():
    assert widths([("a" * 50, "b" * 10)], 40) == [28, 10]
    assert widths([("a" * 50, "b" * 50)], 10) == [4, 4]


PLACES = (Column("Title"), Column("Questions", spare=1), Column("Folder", spare=3), Column("Used", spare=2))
USED = [("a long title " * 4, "", "~/projects/cart", "yesterday"), ("short", "", "~/projects/site", "21:05")]


@pytest.mark.parametrize(
    ("room", "shown"), [(100, ["Title", "Folder", "Used"]), (42, ["Title", "Used"]), (24, ["Title"])]
)
def test_columns_that_can_be_spared_leave_when_space_is_short_and_are_never_cut(room: int, shown: list[str]):
    titles = tuple(column.title for column in PLACES)
    sizes = fitting([titles, *USED], PLACES, room)
    assert [titles[n] for n in sizes] == shown
    assert sum(sizes.values()) + 2 * (len(sizes) - 1) <= room
    assert sizes.get(3) in (None, len("yesterday"))


def test_columns_that_say_the_same_everywhere_leave_only_if_they_can_be_spared():
    columns = (Column("Server"), Column("State"), Column("From", spare=1), Column(""))
    rows = [("Server", "State", "From", ""), ("a", "ready", "here", ""), ("b", "ready", "here", "")]
    assert list(fitting(rows, columns, 80)) == [0, 1]


def test_times_in_columns_are_short():
    now = time.mktime((2026, 11, 19, 21, 30, 0, 0, 0, -1))
    then = [(2026, 11, 19, 9, 5), (2026, 11, 18, 23, 0), (2026, 11, 12, 8, 0), (2025, 11, 12, 8, 0)]
    words = [short_when(time.mktime((*day, 0, 0, 0, -1)), now) for day in then]
    assert words == ["09:05", "yesterday", "12 Nov", "12 Nov 2025"]


def test_wide_characters_count_as_two_cells_and_numbers_stand_right():
    drawn = line(("日本語", "7"), COLUMNS, (8, 3))
    assert drawn.plain == "日本語      7" and drawn.cell_length == 13


def test_what_is_too_long_is_cut_and_says_so():
    assert line(("日本語日本語", "1"), COLUMNS, (7, 1)).cell_length == 10
    assert "…" in line(("abcdefgh", "1"), COLUMNS, (5, 1)).plain


# --- on the screen ---


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 12)])
async def test_a_long_list_leaves_room_for_its_keys_on_every_screen(size: tuple[int, int]):
    rows = Rows(*(row(f"name {number} " + "x" * 90, f"{number}", "much more about it " * 20) for number in range(200)))
    screen = ListScreen("Many", COLUMNS, rows, [Action("enter", "open"), Action("d", "delete")])
    async with shown(screen, size) as (app, pilot):
        await pilot.press("end")
        await pilot.pause()
        text = app.text()
        assert all(Content(one).cell_length <= size[0] for one in text)
        assert any("Esc close" in one for one in text) and any("Many" in one for one in text)
        assert screen.highlighted is not None and screen.highlighted.cells[1] == "199"
        assert any("199" in one for one in text)


async def test_a_smaller_terminal_is_drawn_anew():
    screen = ListScreen("L", COLUMNS, Rows(row("x" * 100, "123")))
    async with shown(screen) as (app, pilot):
        await pilot.resize_terminal(50, 15)
        await until(pilot, lambda: all(Content(one).cell_length <= 50 for one in app.text()))
        assert any("123" in one for one in app.text())


async def test_markup_and_escapes_are_shown_as_they_are():
    evil = row("[red]x[/red] [@click=app.quit]y[/]", detail="[bold]d[/] \x1b]52;c;AA\x07")
    async with shown(ListScreen("[b]t[/b]", COLUMNS, Rows(evil))) as (app, _):
        text = "\n".join(app.text())
        assert "[red]x[/red] [@click=app.quit]y[/]" in text and "[bold]d[/]" in text and "[b]t[/b]" in text
        assert "\x1b" not in text and "\\x1b" in text


async def test_a_source_that_fails_is_told_and_does_no_harm():
    async def broken() -> list[Row]:
        raise OSError("the server is gone")

    async with shown(ListScreen("L", COLUMNS, broken)) as (app, _):
        assert any("could not be loaded: the server is gone" in one for one in app.text())


async def test_nothing_says_so():
    async with shown(ListScreen("L", COLUMNS, Rows(), empty="No dogs.")) as (app, pilot):
        assert any("No dogs." in one for one in app.text())
        await pilot.press("enter", "d")
        assert app.closed == []


@pytest.mark.parametrize(("keys", "expected"), [(("down", "enter"), Chosen("enter", row("b"))), (("escape",), None)])
async def test_enter_chooses_and_escape_closes(keys: tuple[str, ...], expected: Chosen | None):
    screen = ListScreen("L", COLUMNS, Rows(row("a"), row("b")), [Action("enter", "open")])
    async with shown(screen) as (app, pilot):
        await pilot.press(*keys)
        await until(pilot, lambda: app.closed)
        assert app.closed == [expected]


async def test_a_click_chooses():
    screen = ListScreen("L", COLUMNS, Rows(row("a"), row("b")), [Action("enter", "open")])
    async with shown(screen) as (app, pilot):
        await pilot.click(OptionList, offset=(3, 1))
        await until(pilot, lambda: app.closed)
        assert app.closed == [Chosen("enter", row("b"))]


async def test_letters_filter_only_in_the_filter():
    pressed: list[str] = []

    async def remember(found: Row) -> None:
        pressed.append(found.key)

    rows = Rows(row("dog", detail="barks"), row("cat"), row("doe"))
    screen = ListScreen("L", COLUMNS, rows, [Action("enter", "open"), Action("d", "delete", remember)])
    async with shown(screen) as (app, pilot):
        await pilot.press("d")
        await until(pilot, lambda: pressed == ["dog"])
        await pilot.press("slash", "d", "o")
        assert [found.key for found in screen.shown] == ["dog", "doe"] and pressed == ["dog"]
        assert any("do " in one and "dog" not in one for one in app.text()), "what is typed can be read"
        await pilot.press("space", *"bark")
        assert [found.key for found in screen.shown] == ["dog"]
        await pilot.press("z")
        assert any("Nothing matches" in one for one in app.text())
        await pilot.press("escape")
        assert len(screen.shown) == 3 and not screen.query_one(Input).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: app.closed == [None])


def together(app: ListApp, *keys: str) -> None:
    """As a terminal sends them after a stall."""
    for key in keys:
        app.post_message(Key("slash", "/") if key == "/" else Key(key, key if len(key) == 1 else None))


async def test_a_letter_acts_on_the_row_that_arrows_before_it_have_reached():
    acted: list[str] = []
    done = asyncio.Event()

    async def act(row: Row) -> None:
        acted.append(row.key)
        done.set()

    rows = Rows(*(Row(name, (name, "1")) for name in ("one", "two", "three")))
    async with shown(ListScreen("Rows", COLUMNS, rows, [Action("d", "stop", act)])) as (app, _):
        together(app, "down", "down", "d")
        async with asyncio.timeout(WAIT_LIMIT):
            await done.wait()
    assert acted == ["three"]


async def test_letters_that_arrive_with_the_slash_filter_and_do_nothing_else():
    acted: list[str] = []

    async def act(row: Row) -> None:
        acted.append(row.key)

    rows = Rows(*(Row(name, (name, "1")) for name in ("one", "deed", "three")))
    async with shown(ListScreen("Rows", COLUMNS, rows, [Action("d", "stop", act)])) as (app, pilot):
        together(app, "/", "d", "e", "e", "d")
        screen = app.wanted
        assert isinstance(screen, ListScreen)
        async with asyncio.timeout(WAIT_LIMIT):
            while screen.query_one(Input).value != "deed":
                await pilot.pause()
        assert [row.key for row in screen.shown] == ["deed"] and acted == []


async def test_the_highlight_stays_on_its_row_when_rows_come_and_go():
    rows = Rows(row("a"), row("b"), row("c"))
    screen = ListScreen("L", COLUMNS, rows, feed=rows.listen)
    async with shown(screen) as (app, pilot):
        await pilot.press("down")
        rows.change(row("new"), row("a"), row("b", "99"))
        await until(pilot, lambda: len(screen.rows) == 3 and screen.rows[0].key == "new")
        assert screen.highlighted == row("b", "99")
        rows.change(row("new"))
        await until(pilot, lambda: len(screen.rows) == 1)
        assert screen.highlighted == row("new")
        rows.change()
        await until(pilot, lambda: screen.rows == [])
        assert screen.highlighted is None
        await pilot.press("escape")
        await until(pilot, lambda: app.closed)
        assert rows.told == []


async def test_news_while_the_list_goes_away_do_no_harm():
    rows = Rows(row("a"))
    screen = ListScreen("L", COLUMNS, rows, [Action("enter", "open")], feed=rows.listen)
    async with shown(screen) as (app, pilot):
        await pilot.press("enter")
        for number in range(20):
            rows.change(row(f"{number}"))
            await pilot.pause()
        assert app.closed == [Chosen("enter", row("a"))] and rows.told == []


# --- pages ---


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_page_scrolls_and_closes(size: tuple[int, int]):
    app = ListApp(PageScreen("P", Content("\n".join(f"line {number}" for number in range(100)))))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert any("line 0" in one for one in app.text()) and any("Esc close" in one for one in app.text())
        await pilot.press("end")
        await until(pilot, lambda: any("line 99" in one for one in app.text()))
        await pilot.press("escape")
        await until(pilot, lambda: app.closed == [None])


@pytest.mark.parametrize(
    ("keys", "expected"),
    [((*"two", "enter"), "onetwo"), (("escape",), None), ((*["backspace"] * 3, "enter"), None)],
)
async def test_a_line_is_given_or_left(keys: tuple[str, ...], expected: str | None):
    app = ListApp(LineScreen("Name", "one"))
    async with app.run_test() as pilot:
        await pilot.pause()
        await pilot.press("end")
        assert any("one" in one for one in app.text()), "what is typed can be read"
        await pilot.press(*keys)
        await until(pilot, lambda: app.closed)
        assert app.closed == [expected]
