"""The whole terminal UI in one process: the real app on a real session on disk, a scripted model, real tools."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import msgspec
from textual.notifications import Notification
from textual.pilot import Pilot

from assent.app.opening import LocalClient
from assent.approval import Mode
from assent.config import Settings, TerminalSettings
from assent.events import DurableEvent
from assent.front.tui import question_board, stop_keys
from assent.front.tui.key_guard import KeyGuard
from assent.front.tui.local_host import LocalHost
from assent.front.tui.terminal_app import AssentApp
from assent.session.running_session import RunningSession
from support.program import Json
from support.waiting import WAIT_LIMIT

E = TypeVar("E", bound=DurableEvent)
FOREVER = 3600.0


@contextmanager
def messages_stay() -> Generator[None]:
    """What the app shows for a moment is there whenever a test looks, however busy the machine is."""
    with (
        patch.object(question_board, "HINT_SECONDS", FOREVER),
        patch.object(stop_keys, "QUIT_SECONDS", FOREVER),
        patch.object(Notification, "time_left", FOREVER),
    ):
        yield


class AppHarness:
    """Short names for what a person does and sees."""

    def __init__(
        self, folder: Path, home: Path, *replies: Json, model: str = "", settings: Settings | None = None
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        scenario = home.parent / "scenario.json"
        scenario.write_bytes(msgspec.json.encode({"replies": replies}))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "ASSENT_HOME": str(home)}
        self.host = LocalHost(str(folder), settings or Settings(), self.env, model=model or f"scripted:{scenario}")
        self.guard = KeyGuard(quiet=0, settle=0)
        self.terminal = TerminalSettings()
        self.app: AssentApp
        self.pilot: Pilot[None]

    @asynccontextmanager
    async def open(
        self,
        *,
        session: str | None = None,
        mode: Mode | None = None,
        size: tuple[int, int] = (80, 24),
        prompt: str = "",
    ) -> AsyncGenerator["AppHarness"]:
        self.app = AssentApp(
            self.host, session=session, mode=mode, guard=self.guard, first_prompt=prompt, terminal=self.terminal
        )
        self.app.suspend = nullcontext  # type: ignore[method-assign]  # there is no terminal to give away
        with messages_stay():
            async with self.app.run_test(size=size, notifications=True) as self.pilot:
                await self.until(lambda: self.app.client is not None or "cannot be opened" in self.shown)
                yield self
        await self.app.shut_down()

    # --- doing ---

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        await self.pilot.pause()
        while self.app.panel.deciding:  # noqa: ASYNC110 (a condition of the screen, not an event)
            await asyncio.sleep(0)
        await self.pilot.pause()

    async def types(self, text: str) -> None:
        """Into whatever has the focus; a newline is Enter."""
        await self.pilot.press(*("enter" if character == "\n" else character for character in text))

    async def say(self, text: str) -> None:
        self.app.prompt.focus()
        await self.pilot.pause()
        self.app.prompt.load(text)
        await self.pilot.press("enter")
        await self.pilot.pause()

    # --- seeing ---

    @property
    def runner(self) -> RunningSession:
        assert isinstance(self.app.client, LocalClient)
        return self.app.client.runner

    @property
    def shown(self) -> str:
        """What is on the screen, row by row."""
        lines = self.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in lines)

    async def until(self, condition: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(WAIT_LIMIT):
                while not condition():
                    await self.pilot.pause()
                    await asyncio.sleep(0.001)
        except TimeoutError:
            raise AssertionError(f"that did not happen:\n{self.shown}") from None

    async def until_shown(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.shown for text in texts))

    async def until_screen(self, kind: type) -> None:
        await self.until(lambda: isinstance(self.app.screen, kind))
        await self.settle()

    async def until_gone(self, text: str) -> None:
        await self.until(lambda: text not in self.shown)

    async def until_asked(self, count: int = 1) -> None:
        """Wait until this many questions are open, the panel has the focus and everything that fits has been seen."""
        await self.until(lambda: self.app.client is not None and len(self.runner.waiting()) == count)
        await self.until(lambda: self.app.panel.has_keyboard or not self.app.prompt.is_empty)
        await self.settle()

    async def until_idle(self) -> None:
        """Until the turn is over and the screen shows it: the app draws several changes together, a moment later."""
        await self.until(lambda: self.runner.state.prompts and self.runner.state.open_prompt is None)
        await self.settle()
        self.app.transcript.redraw_now()
        await self.settle()

    async def recorded(self, kind: type[E]) -> list[E]:
        log = await self.host.log()
        session = self.app.client.state.session if self.app.client is not None else self.app.link.left_session
        return [one.event for one in await log.read(session) if isinstance(one.event, kind)]
