"""A prompt that names a custom command: its text is filled in by the session, which may ask about it."""

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.command_sender import Closed, Outcomes, run
from assent.app.custom_commands import BUILT_IN, BadTemplate, CustomCommand, Stopped, load_custom
from assent.app.custom_filling import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assent.app.opening import LocalClient

_NAME = re.compile(r"[A-Za-z][\w:-]*")


class NotSent(Exception):
    """There is nothing to send; the message is for the person."""


class CustomPrompt(Struct, frozen=True):
    command: CustomCommand
    argument: str
    before: str
    """What was piped in; it stays in front of the text."""

    async def text(self, client: "LocalClient", outcomes: Outcomes) -> str:
        """Raises NotSent."""
        try:
            text = await filled(self.command, self.argument, lambda tool: run(client, outcomes, tool), client.me)
        except (Stopped, BadTemplate, Closed) as stop:
            raise NotSent(f"/{self.command.name} was not sent: {stop}") from stop
        return self.before + text


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
