"""What a slash command is, and what a typed line means: a command, or text for the model."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from assent.front.tui.prompt.completion import Candidate

if TYPE_CHECKING:
    from assent.front.tui.slash.slash_context import SlashContext

Group = Literal[
    "Session",
    "Model and mode",
    "Approvals",
    "Information",
    "Program",
    "Custom",
    "Prompts of MCP servers",
    "Prompts on the server",
]

Run = Callable[["SlashContext", str], Awaitable[None]]
Complete = Callable[["SlashContext", str], Awaitable[Sequence[Candidate]]]


async def nothing(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    """For commands without argument completion."""
    return ()


class SlashCommand(Struct, frozen=True, kw_only=True):
    name: str
    help: str
    """One line."""
    run: Run
    group: Group
    usage: str = ""
    """The arguments, e.g. `[NAME]`."""
    aliases: tuple[str, ...] = ()
    complete: Complete = nothing
    """Its possible arguments, whatever was typed; the input leaves out those that do not match."""

    @property
    def call(self) -> str:
        return f"/{self.name} {self.usage}".rstrip()


class Typed(Struct, frozen=True):
    name: str
    argument: str = ""


_LINE = re.compile(r"/(?P<name>\?|\w[\w.:-]*)?(?:\s+(?P<argument>.*))?", re.DOTALL)


def parse(line: str) -> Typed | None:
    """None for text: `//…`, a path such as `/usr/bin`, and everything that does not start with a slash."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    return Typed(match["name"] or "help", (match["argument"] or "").strip())
