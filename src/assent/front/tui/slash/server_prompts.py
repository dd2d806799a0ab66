"""A prompt of an MCP server as a slash command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.front.server_prompts import NoText, argument_help, help_of, usage, written
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.command import SlashCommand
from assent.front.words import prompt_command, safe

if TYPE_CHECKING:
    from assent.front.tui.slash.desk import Desk
    from assent.mcp.offers import Prompt


def prompt_slash(prompt: "Prompt") -> SlashCommand:
    async def run(desk: "Desk", typed: str) -> None:
        try:
            await desk.submit(await written(prompt, typed, desk.host.server_prompt))
        except NoText as error:
            desk.complain(str(error))

    async def complete(desk: "Desk", typed: str) -> Sequence[Candidate]:
        before = typed[: typed.rfind(" ") + 1]
        return [
            Candidate(f"{before}{safe(argument.name, 'label')}=", argument_help(argument))
            for argument in prompt.arguments
            if f"{argument.name}=" not in before
        ]

    name = prompt_command(prompt.server, prompt.name)
    return SlashCommand(name, help_of(prompt), run, "Prompts of servers", usage(prompt), complete=complete)
