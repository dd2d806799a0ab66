"""Makes the pictures of the terminal UI in docs/: plays the tour in the real app and saves an SVG at each step."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from assent.config import Settings
from assent.front.tour.sample_project import PROMPT, SCENARIO, make_project
from assent.front.tui.answer_screens import ScopeScreen
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.local_host import LocalHost
from assent.front.tui.terminal_app import AssentApp

DOCS = Path(__file__).resolve().parent.parent / "docs"
SIZE = (100, 30)


class Tour:
    def __init__(self, app: AssentApp, pilot: "Pilot[None]") -> None:
        self._app = app
        self._pilot = pilot

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

    def take(self, name: str) -> None:
        svg = self._app.export_screenshot(title="assent tour", simplify=True)
        svg = re.sub(r"terminal-\d+", f"assent-{name}", svg)
        svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # nothing is loaded from elsewhere
        svg = re.sub(r"assent-tour-\w{8}", "assent-tour-example1", svg)
        (DOCS / f"{name}.svg").write_text(svg, encoding="utf-8")


async def play() -> None:
    scratch, project = make_project()
    os.environ["HOME"] = str(scratch)  # the folder is shown as ~/cart
    env = {**os.environ, "ASSENT_HOME": str(scratch / "home")}
    host = LocalHost(str(project), Settings(), env, model=f"scripted:{SCENARIO}")
    app = AssentApp(host, first_prompt=PROMPT, first_note="A guided tour.", guard=KeyGuard(quiet=0, settle=0))
    async with app.run_test(size=SIZE) as pilot:
        tour = Tour(app, pilot)
        await tour.question(0)
        tour.take("approval")
        await tour.press("a")
        await tour.until(lambda: isinstance(app.screen, ScopeScreen))
        tour.take("always")
        await tour.press("enter")
        await tour.question(1)
        tour.take("diff")
        await tour.press("y")
        await tour.done()
        tour.take("terminal")
    await app.shut_down()
    shutil.rmtree(scratch)


if __name__ == "__main__":
    asyncio.run(play())
