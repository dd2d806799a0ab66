"""Makes the pictures of the terminal UI in docs/: plays the tour in the real app and saves an SVG at each step.

`tour.svg` shows all steps one after the other, as an animation that a browser plays without a script.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from assent.config import Settings
from assent.front.tour.sample_project import PROMPT, SCENARIO, make_project
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.local_host import LocalHost
from assent.front.tui.scope_screen import ScopeScreen
from assent.front.tui.terminal_app import AssentApp

DOCS = Path(__file__).resolve().parent.parent / "docs"
SIZE = (100, 30)
MOVING = "tour"
MOST_BYTES = 1_000_000


class Tour:
    def __init__(self, app: AssentApp, pilot: "Pilot[None]") -> None:
        self._app = app
        self._pilot = pilot
        self.frames: list[tuple[str, float]] = []
        """The pictures of the animation, each with its seconds."""

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            await self._pilot.pause(0.05)
        await self._pilot.pause(0.3)  # everything that was triggered has been drawn

    async def question(self, number: int) -> None:
        """Wait for the tour's next question."""
        await self.until(lambda: self._app.panel.has_focus and self._answered() == number)

    def _answered(self) -> int:
        return len(self._app.client.state.answered_by) if self._app.client is not None else -1

    async def done(self) -> None:
        await self.until(lambda: self._app.client is not None and self._app.client.state.open_prompt is None)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)
        await self._pilot.pause(0.3)

    def take(self, name: str, seconds: float) -> None:
        """For a picture of its own, and for the animation."""
        (DOCS / f"{name}.svg").write_text(self._picture(f"assent-{name}"), encoding="utf-8")
        self.film(seconds)

    def film(self, seconds: float) -> None:
        self.frames.append((self._picture(f"f{len(self.frames)}"), seconds))

    def _picture(self, prefix: str) -> str:
        svg = self._app.export_screenshot(title="assent tour", simplify=True)
        svg = re.sub(r"terminal-\d+", prefix, svg)
        svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # nothing is loaded from elsewhere
        return re.sub(r"assent-tour-\w{8}", "assent-tour-example1", svg)

    async def type(self, text: str) -> None:
        """Filmed, a few words at a time."""
        for words in re.findall(r"(?:\S+\s*){1,4}", text):
            await self.press(*words)
            self.film(0.35)


def moving(frames: list[tuple[str, float]]) -> str:
    """One SVG in which each frame is visible in its time; the whole repeats."""
    whole = sum(seconds for _, seconds in frames)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frames[0][0])
    assert size is not None
    rules: list[str] = []
    parts: list[str] = []
    begin = 0.0
    for number, (svg, seconds) in enumerate(frames):
        start, end = (100 * place / whole for place in (begin, begin + seconds))
        visible = f"0%{{visibility:hidden}}{start:.2f}%{{visibility:visible}}{end:.2f}%,100%{{visibility:hidden}}"
        rules.append(
            f"@keyframes k{number}{{{visible}}}#g{number}{{animation:k{number} {whole:.1f}s step-end infinite}}"
        )
        parts.append(f'<g id="g{number}" class="frame">{svg}</g>')
        begin += seconds
    last = f"#g{len(frames) - 1}"  # without animations, the end of the tour is shown
    still = f".frame{{animation:none!important;visibility:hidden}}{last}{{visibility:visible!important}}"
    style = f"<style>{''.join(rules)}@media(prefers-reduced-motion:reduce){{{still}}}</style>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[1]} {size[2]}">'
    return f"{head}{style}{''.join(parts)}</svg>\n"


async def play() -> None:
    scratch, project = make_project()
    os.environ["HOME"] = str(scratch)  # the folder is shown as ~/cart
    env = {**os.environ, "ASSENT_HOME": str(scratch / "home")}
    host = LocalHost(str(project), Settings(), env, model=f"scripted:{SCENARIO}")
    app = AssentApp(host, first_note="A guided tour.", guard=KeyGuard(quiet=0, settle=0))
    async with app.run_test(size=SIZE) as pilot:
        tour = Tour(app, pilot)
        await tour.until(lambda: app.client is not None)
        tour.film(0.8)
        await tour.type(PROMPT)
        await tour.press("enter")
        await tour.question(0)
        tour.take("approval", 3.5)
        await tour.press("a")
        await tour.until(lambda: isinstance(app.screen, ScopeScreen))
        tour.take("always", 2.5)
        await tour.press("enter")
        await tour.question(1)
        tour.take("diff", 3.5)
        await tour.press("y")
        await tour.done()
        tour.take("terminal", 5)
    await app.shut_down()
    shutil.rmtree(scratch)
    film = moving(tour.frames)
    assert len(film) < MOST_BYTES, f"{MOVING}.svg has {len(film):,} bytes"
    (DOCS / f"{MOVING}.svg").write_text(film, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(play())
