"""A prompt of an MCP server as a slash command, and one that the session's own server fills in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.app.mcp_prompts import NoText, argument_help, help_of, render_prompt, usage
from assent.app.wording import prompt_command, safe
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import Complete, SlashCommand

if TYPE_CHECKING:
    from assent.app.mcp_types import Argument, Prompt
    from assent.front.tui.host import NamedPrompt
    from assent.front.tui.slash.slash_context import SlashContext


def prompt_slash(prompt: "Prompt") -> SlashCommand:
    async def run(context: "SlashContext", typed: str) -> None:
        try:
            await context.submit(await render_prompt(prompt, typed, context.host.server_prompt))
        except NoText as error:
            context.complain(str(error))

    name, complete = prompt_command(prompt.server, prompt.name), _completion(prompt.arguments)
    return SlashCommand(
        name=name, help=help_of(prompt), run=run, group="Prompts of MCP servers", usage=usage(prompt), complete=complete
    )


def named_slash(prompt: "NamedPrompt") -> SlashCommand:
    async def run(context: "SlashContext", typed: str) -> None:
        await context.host.use_prompt(prompt.name, typed)

    complete = _completion(prompt.arguments)
    return SlashCommand(
        name=prompt.name,
        help=prompt.help,
        run=run,
        group="Prompts on the server",
        usage=prompt.usage,
        complete=complete,
    )


def _completion(arguments: "Sequence[Argument]") -> Complete:
    """Offers the arguments that have not been given yet, each as the whole text to type."""

    async def complete(context: "SlashContext", typed: str) -> Sequence[Candidate]:
        before = typed[: typed.rfind(" ") + 1]
        return [
            Candidate(f"{before}{safe(argument.name, 'label')}=", argument_help(argument))
            for argument in arguments
            if f"{argument.name}=" not in before
        ]

    return complete
