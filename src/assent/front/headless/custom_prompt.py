"""A prompt that names a custom command: its text is filled in by the session, which may ask about it."""

import asyncio
import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.command_sender import Closed, Outcomes, run
from assent.app.custom_commands import BUILT_IN, BadTemplate, CustomCommand, Stopped, load_custom
from assent.app.custom_filling import filled
from assent.commands import RunTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from assent.app.opening import LocalClient
    from assent.events import CallFinished

_NAME = re.compile(r"[A-Za-z][\w:-]*")


class CustomPrompt(Struct, frozen=True):
    command: CustomCommand
    argument: str
    before: str
    """What was piped in; it stays in front of the text."""


class Filling:
    """Fills in a custom command and submits it, while somebody else shows the session's events and asks."""

    def __init__(
        self,
        custom: CustomPrompt,
        client: "LocalClient",
        submit: "Callable[[str], Awaitable[None]]",
        gave_up: "Callable[[], None]",
    ) -> None:
        self.outcomes = Outcomes()
        """Must be told the session's events."""
        self.problem = ""
        """Why there is nothing to send, for the person."""
        self.error: Exception | None = None
        """What went wrong otherwise, such as a full disk."""
        self._custom, self._client = custom, client
        self._submit, self._gave_up = submit, gave_up
        self._task: asyncio.Task[None] | None = None
        self._stopped = self.sent = False

    @property
    def begun(self) -> bool:
        return self._task is not None and not self.sent

    def begin(self) -> None:
        if self._task is None and not self._stopped:
            self._task = asyncio.create_task(self._fill())

    def stop(self) -> None:
        """Nothing more is run or read, and nothing is sent."""
        self._stopped = True

    async def _fill(self) -> None:
        command = self._custom.command
        try:
            text = await filled(command, self._custom.argument, self._run, self._client.me)
            self._check()
            self.sent = True  # first: the events may come before `submit` returns
            await self._submit(self._custom.before + text)
        except (Stopped, BadTemplate, Closed) as stop:
            self.problem = f"/{command.name} was not sent: {stop}"
            self._gave_up()
        except Exception as error:  # nobody awaits this task; whoever was told raises it again
            self.error = error
            self._gave_up()

    async def _run(self, tool: RunTool) -> "CallFinished | str":
        self._check()
        return await run(self._client, self.outcomes, tool)

    def _check(self) -> None:
        if self._stopped:
            raise Stopped("it was cancelled.")


def find_custom(
    env: "Mapping[str, str]", folder: str, typed: str, before: str, notice: "Callable[[str], None]"
) -> CustomPrompt | None:
    """None if the text names no custom command."""
    name, *rest = typed[1:].split(maxsplit=1) or [""]
    loaded = load_custom(env, folder)
    for problem in loaded.problems:
        notice(problem)
    command = next((each for each in loaded.commands if each.name == name), None)
    return None if command is None else CustomPrompt(command, "".join(rest), before)


def why_text(typed: str) -> str:
    """What to say about a text that looks like a command and is sent as it is; empty if it is more likely a path."""
    name = (typed[1:].split(maxsplit=1) or [""])[0]
    if name in BUILT_IN:
        return f"/{name} is a command of the terminal UI; here it is sent as text."
    if not _NAME.fullmatch(name) or os.path.exists(f"/{name}"):
        return ""
    return f"There is no command /{name}; it is sent as text."
