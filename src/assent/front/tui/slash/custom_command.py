"""A custom command as a slash command."""

from typing import TYPE_CHECKING

from assent.front.tui.slash.slash_command import SlashCommand

if TYPE_CHECKING:
    from assent.app.custom_commands import CustomCommand
    from assent.commands import RunTool
    from assent.events import CallFinished
    from assent.front.tui.slash.slash_context import SlashContext


def custom_slash(command: "CustomCommand") -> SlashCommand:
    async def run(context: "SlashContext", argument: str) -> None:
        from assent.app.custom_commands import BadTemplate, Stopped
        from assent.app.custom_filling import filled

        try:
            text = await filled(command, argument, lambda tool: _finished(context, tool), context.client.me)
        except (Stopped, BadTemplate) as stop:
            context.complain(f"/{command.name} was not sent: {stop}")
        else:
            await context.submit(text)

    return SlashCommand(name=command.name, help=command.description, run=run, group="Custom", usage=command.usage)


async def _finished(context: "SlashContext", tool: "RunTool") -> "CallFinished | str":
    from assent.app.command_sender import run

    return await run(context.client, context.feed.outcomes, tool)
