"""A prompt of an MCP server as a slash command: `/server:prompt name=value …`, or the values in their order.

Its text comes from the server and is sent as if it were typed: the person chose it, and sees it in the transcript.
"""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.front.tui.host import NotHere
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.command import SlashCommand
from assent.front.words import prompt_command, safe

if TYPE_CHECKING:
    from assent.front.tui.slash.desk import Desk
    from assent.mcp.offers import Argument, Prompt


def prompt_slash(prompt: "Prompt") -> SlashCommand:
    name = prompt_command(prompt.server, prompt.name)
    usage = " ".join(_usage(argument) for argument in prompt.arguments)

    async def run(desk: "Desk", typed: str) -> None:
        try:
            given = arguments(prompt, typed)
        except ValueError as error:
            desk.complain(f"{error}. Write it like this: /{name} {usage}".rstrip())
            return
        text = await desk.host.server_prompt(prompt, given)
        if not text.strip():
            raise NotHere(f"The server {prompt.server} gave no text for /{name}.")
        await desk.submit(text)

    async def complete(desk: "Desk", typed: str) -> Sequence[Candidate]:
        before = typed[: typed.rfind(" ") + 1]
        return [
            Candidate(f"{before}{safe(argument.name, 'label')}=", _help(argument))
            for argument in prompt.arguments
            if f"{argument.name}=" not in before
        ]

    help = safe(prompt.description, "label") or f"from the server {prompt.server}"
    return SlashCommand(name, help, run, "Prompts of servers", usage, complete=complete)


def arguments(prompt: "Prompt", typed: str) -> dict[str, str]:
    """The values by name. Those without a name go to the arguments that have none, and the last takes the rest.

    Raises ValueError, with a message for the person.
    """
    names = [argument.name for argument in prompt.arguments]
    given: dict[str, str] = {}
    rest: list[str] = []
    for word in shlex.split(typed):
        name, found, value = word.partition("=")
        if found and name in names:
            given[name] = value
        else:
            rest.append(word)
    free = [name for name in names if name not in given]
    if rest and not free:
        raise ValueError(f"There is no argument left for {safe(rest[0], 'label')!r}")
    while rest:
        place = free.pop(0)
        given[place] = rest.pop(0) if free else " ".join(rest)
        rest = rest if free else []
    missing = [argument.name for argument in prompt.arguments if argument.needed and not given.get(argument.name)]
    if missing:
        raise ValueError(f"This needs {safe(' and '.join(missing), 'label')}")
    return given


def _usage(argument: "Argument") -> str:
    named = f"{safe(argument.name, 'label')}=…"
    return named if argument.needed else f"[{named}]"


def _help(argument: "Argument") -> str:
    return ", ".join(filter(None, ("needed" if argument.needed else "", safe(argument.description, "label"))))
