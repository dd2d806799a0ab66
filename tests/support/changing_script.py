"""A script that changes between the yes to a command and its start, at every point and in every way."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from assent.events import CallStarted, DurableEvent
from assent.process import supervisor_client
from support.tools_harness import ToolsHarness, sh, statuses

OLD, NEW = "#!/bin/sh\necho old >> ran\n", "#!/bin/sh\necho new >> ran\n"

Change = Literal["in place", "replaced", "linked"]
CHANGES: tuple[Change, ...] = ("in place", "replaced", "linked")
POINTS = ("the yes is given", "the last look is over", "a process is about to start", "never")
ENDINGS = ["asked again", "changed_since_approved", "changed_since_approved", "ok"]
"""How a call ends if the script changes at each of these points."""


def script(folder: Path, text: str, name: str = "x.sh") -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def opened(folder: Path, **more: Any) -> ToolsHarness:
    """As a new session opens it."""
    return ToolsHarness(folder, approved=folder.parent / "executed.json", **more)


def ran(folder: Path) -> list[str]:
    """What the scripts that ran have written."""
    return (folder / "ran").read_text().split() if (folder / "ran").exists() else []


class ChangingScript:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tools = opened(folder)
        self._folder = folder
        self._point = ""
        self._change: Change = "in place"
        self._watch(monkeypatch)

    async def round(self, command: str, point: str, change: Change) -> str:
        """How the call ended, or that it was asked about again."""
        (self._folder / "x.sh").unlink()
        script(self._folder, OLD)
        self._point, self._change = point, change
        batch = self.tools.schedule(sh(command))
        await self.tools.settle()
        for call in self.tools.scheduler.waiting():
            await self.tools.answer(call.request.call_id)
        self._reached("the yes is given")
        results = asyncio.ensure_future(batch.results())
        while not results.done() and not self.tools.waiting():
            await asyncio.wait([results], timeout=0.001)
        if self.tools.waiting():
            await self.tools.finish(batch, "cancel")
            return "asked again"
        return statuses(await results)[0]

    def _watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        record: Callable[..., Any] = self.tools.journal.record
        hand_over: Callable[[list[int]], None] = supervisor_client._hand_over  # pyright: ignore[reportPrivateUsage]

        def recorded(*events: DurableEvent) -> Any:
            if any(isinstance(event, CallStarted) for event in events):
                self._reached("the last look is over")
            return record(*events)

        def handed_over(descriptors: list[int]) -> None:
            self._reached("a process is about to start")
            hand_over(descriptors)

        monkeypatch.setattr(self.tools.journal, "record", recorded)
        monkeypatch.setattr(supervisor_client, "_hand_over", handed_over)

    def _reached(self, point: str) -> None:
        if point != self._point:
            return
        match self._change:
            case "in place":
                script(self._folder, NEW)
            case "replaced":
                script(self._folder, NEW, "draft")
                os.replace(self._folder / "draft", self._folder / "x.sh")
            case "linked":
                script(self._folder, NEW, "other")
                (self._folder / "x.sh").unlink()
                (self._folder / "x.sh").symlink_to("other")
