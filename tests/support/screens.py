"""Pictures of the terminal UI: made by the real app, kept as SVG, compared byte for byte.

`pytest --update-screens` rewrites them. A picture that differs is written to the test's folder, and the message says
where; open both in a browser.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

from assent.config import TerminalSettings
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.terminal_app import AssentApp
from support.app_harness import messages_stay
from support.recorded_session import NOW, RecordedHost, RecordedSession

FOLDER = Path(__file__).parents[1] / "front" / "tui" / "screens"
SIZES = ((80, 24), (120, 40), (60, 20))

Play = Callable[["Pilot[None]"], Awaitable[None]]
"""What a person does before the picture is taken."""


def normalised(svg: str) -> str:
    """Without what differs from run to run (the prefix of all ids), and without external fonts."""
    prefix = re.search(r"terminal-\d+", svg)
    assert prefix is not None
    svg = svg.replace(prefix[0], "t")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


@asynccontextmanager
async def showing(
    recording: RecordedSession, size: tuple[int, int], look: str = "dark", terminal: TerminalSettings | None = None
) -> AsyncGenerator["Pilot[None]"]:
    """The app with this recording on its screen, fully drawn."""
    app = AssentApp(
        RecordedHost(recording),
        guard=KeyGuard(quiet=0, settle=0),
        clock=lambda: NOW,
        timer=lambda: 0.0,
        look=look,
        terminal=terminal or TerminalSettings(),
    )
    with messages_stay():
        async with app.run_test(size=size) as pilot:
            while app.client is None:
                await pilot.pause()
            await settle(pilot)
            yield pilot
    await app.shut_down()


async def settle(pilot: "Pilot[None]") -> None:
    """Wait until a key is an answer, and everything triggered has been drawn."""
    app = pilot.app
    assert isinstance(app, AssentApp)
    await pilot.pause()
    while app.panel.deciding:  # noqa: ASYNC110 (a condition of the screen, not an event)
        await asyncio.sleep(0)
    await pilot.pause()
    app.transcript.redraw_now()
    await pilot.pause()


async def picture(
    recording: RecordedSession,
    size: tuple[int, int],
    play: Play | None = None,
    look: str = "dark",
    terminal: TerminalSettings | None = None,
) -> str:
    async with showing(recording, size, look, terminal) as pilot:
        if play is not None:
            await play(pilot)
        assert not blinking(pilot.app.screen), "a picture with a blinking cursor depends on timing"
        return await _at_rest(pilot)


def blinking(screen: Screen[object]) -> list[Input | TextArea]:
    fields = [*screen.query(Input), *screen.query(TextArea)]
    return [field for field in fields if field.cursor_blink]


async def _at_rest(pilot: "Pilot[None]") -> str:
    """The picture, once it no longer changes."""
    before = ""
    while True:
        await settle(pilot)
        svg = normalised(pilot.app.export_screenshot(title="assent", simplify=True))
        if svg == before:
            return svg
        before = svg


def check(name: str, svg: str, *, update: bool, folder: Path) -> None:
    kept = FOLDER / f"{name}.svg"
    if update:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(svg, encoding="utf-8")
    elif not kept.exists() or kept.read_text(encoding="utf-8") != svg:
        new = folder / f"{name}.svg"
        new.write_text(svg, encoding="utf-8")
        raise AssertionError(f"the screen differs from {kept}; it is now {new} (--update-screens keeps it)")
