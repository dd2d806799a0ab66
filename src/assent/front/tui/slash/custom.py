"""A custom command as a slash command."""

from typing import TYPE_CHECKING

from assent.front.tui.slash.command import SlashCommand

if TYPE_CHECKING:
    from assent.commands import RunTool
    from assent.events import CallFinished
    from assent.front.custom import CustomCommand
    from assent.front.tui.slash.desk import Desk


def custom_slash(command: "CustomCommand") -> SlashCommand:
    async def run(desk: "Desk", argument: str) -> None:
        from assent.front.custom import BadTemplate, Stopped
        from assent.front.filling import filled

        try:
            text = await filled(command, argument, lambda tool: _finished(desk, tool), desk.client.me)
        except (Stopped, BadTemplate) as stop:
            desk.complain(f"/{command.name} was not sent: {stop}")
        else:
            await desk.submit(text)

    return SlashCommand(name=command.name, help=command.description, run=run, group="Custom", usage=command.usage)


async def _finished(desk: "Desk", tool: "RunTool") -> "CallFinished | str":
    from assent.session.work import person_call_id

    news = desk.news
    key = await desk.client.send(tool)
    return await news.taken(key) or await news.finished(person_call_id(key))
