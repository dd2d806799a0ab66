"""The conversation on the screen: where it stands, and how little of it is drawn."""

import subprocess
import sys

import pytest
from textual.app import App, ComposeResult

from assent.front.tui.render import ItemRenderer
from assent.front.tui.text_style import TextStyler
from assent.front.tui.themes import DEFAULT_LOOK, LOOKS
from assent.front.tui.transcript import WINDOW, Transcript
from assent.front.tui.transcript_model import NoteItem, ReplyItem, TranscriptModel

HEAVY = ("assent.session.runner", "assent.policy.rules", "sqlite3", "rapidfuzz", "pygments", "markdown_it", "hashlib")


class Page(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.renderer = ItemRenderer(TextStyler(LOOKS[DEFAULT_LOOK].palette), dict)

    def compose(self) -> ComposeResult:
        yield Transcript(TranscriptModel(), self.renderer)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def first_line(self) -> str:
        return self.transcript.render_line(0).text.strip()

    def last_line(self) -> str:
        return self.transcript.render_line(self.transcript.size.height - 1).text.strip()


def long_story(notes: int = 1000) -> TranscriptModel:
    transcript_model = TranscriptModel()
    for n in range(notes):
        transcript_model.add(NoteItem(f"note {n}"))
    return transcript_model


async def test_a_long_session_opens_at_its_end() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        page.transcript.show(long_story())
        await pilot.pause()
        assert page.last_line() == "· note 999"


async def test_of_a_long_session_only_the_newest_lines_are_drawn() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        page.transcript.show(long_story())
        await pilot.pause()
        assert WINDOW <= page.transcript.virtual_size.height <= 2 * WINDOW


async def test_older_lines_come_when_one_scrolls_up_to_them_and_what_is_read_stays_in_place() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        page.transcript.show(long_story())
        await pilot.pause()
        before = page.transcript.virtual_size.height
        page.transcript.scroll_to(y=1, animate=False, immediate=True)
        page.transcript.scroll_to(y=0, animate=False, immediate=True)
        await pilot.pause()
        assert page.transcript.virtual_size.height > before
        assert page.first_line() == "· note 700"


async def test_whoever_reads_above_keeps_the_place_while_more_comes_in() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        transcript_model = long_story()
        page.transcript.show(transcript_model)
        await pilot.pause()
        page.transcript.scroll_relative(y=-40, animate=False, immediate=True)
        read = page.first_line()
        for n in range(500):
            transcript_model.add(NoteItem(f"later {n}"))
        page.transcript.redraw_now()
        await pilot.pause()
        assert page.first_line() == read


async def test_a_reply_of_line_ends_alone_takes_no_room() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        transcript_model = TranscriptModel()
        for item in (NoteItem("before"), ReplyItem("\n\n"), NoteItem("after")):
            transcript_model.add(item)
        page.transcript.show(transcript_model)
        await pilot.pause()
        assert [page.transcript.render_line(y).text.strip() for y in range(4)] == ["· before", "", "· after", ""]


async def test_what_leaves_the_window_is_not_kept_drawn() -> None:
    page = Page()
    async with page.run_test(size=(60, 20)) as pilot:
        transcript_model = long_story()
        page.transcript.show(transcript_model)
        for n in range(1000):
            transcript_model.add(NoteItem(f"later {n}"))
            if n % 50 == 0:
                page.transcript.redraw_now()
        await pilot.pause()
        assert page.renderer.kept <= WINDOW


def test_a_reply_that_grows_stands_as_a_whole_behind_one_mark() -> None:
    text = "# Title\n\nSome *words*.\n\n- one\n- two\n\nThe end."
    styler = TextStyler(LOOKS[DEFAULT_LOOK].palette)
    growing = ReplyItem()
    renderer = ItemRenderer(styler, dict)
    for start in range(0, len(text), 5):
        growing.add(text[start : start + 5])
        renderer.lines(growing, 60)
    lines = [strip.text.rstrip() for strip in renderer.lines(growing, 60)]
    words = [line.strip("✦ ") for line in lines if line.strip()]
    assert words == ["Title", "Some words.", "• one", "• two", "The end."]
    assert lines[0].startswith("✦")
    assert all(not line or line.startswith("  ") for line in lines[1:])


@pytest.mark.parametrize("name", HEAVY)
def test_nothing_heavy_is_imported_before_the_first_frame(name: str) -> None:
    modules = "assent.cli.main_options, assent.config, assent.front.tui.local_host, assent.front.tui.terminal_app"
    code = f"import sys, {modules}; sys.exit({name!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
