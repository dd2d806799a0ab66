"""A custom command as a slash command. Its commands and files go through the gate like calls of the model: the person
chose the command, but its words come from a file.
"""

from typing import TYPE_CHECKING

from assent.commands import RunTool
from assent.front.tui.slash.command import SlashCommand
from assent.front.tui.slash.words import named
from assent.parts import JsonObject, TerminalDisplay

if TYPE_CHECKING:
    from assent.events import CallFinished
    from assent.front.tui.host import CustomCommand
    from assent.front.tui.slash.desk import Desk

OUTPUT_LIMIT = 40_000
ENDED_BADLY = ("Exit Code:", "Signal:", "Timed out:")
"""How the first line of a result begins that did not end well."""


def custom_slash(command: "CustomCommand") -> SlashCommand:
    async def run(desk: "Desk", argument: str) -> None:
        from assent.front.custom import BadTemplate, Stopped, expand

        through = _Gate(desk)
        try:
            text = await expand(command.prompt, argument, run=through.run, read=through.read)
        except (Stopped, BadTemplate) as stop:
            desk.complain(f"/{command.name} was not sent: {stop}")
        else:
            await desk.submit(text)

    uses_args = "[ARGUMENTS]" if "{{args}}" in command.prompt else "[TEXT]"
    return SlashCommand(command.name, command.description, run, "Custom", uses_args)


class _Gate:
    """Runs the tools of the session for a prompt; each is judged, asked about where needed, and recorded."""

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk

    async def run(self, command: str) -> str:
        finished = await self._finished("run_shell_command", {"command": command}, f"`{named(command)}`")
        return command_output(finished)

    async def read(self, path: str) -> str:
        from assent.front.custom import Stopped

        finished = await self._finished("read_file", {"file_path": path}, f"reading {named(path)}")
        if finished.result.media:
            raise Stopped(f"{named(path)} is no text.")
        return str(finished.result.response.get("output", ""))

    async def _finished(self, tool: str, args: JsonObject, what: str) -> "CallFinished":
        from assent.front.custom import Stopped
        from assent.session.work import person_call_id

        desk, news = self._desk, self._desk.news
        key = await desk.client.send(RunTool(tool, args, by=desk.client.me, judged=True))
        if problem := await news.taken(key):
            raise Stopped(f"{what} was not done: {problem}.")
        finished = await news.finished(person_call_id(key))
        if finished.status != "success":
            raise Stopped(f"{what} was refused or failed. {finished.result.response.get('error', '')}")
        return finished


def command_output(finished: "CallFinished") -> str:
    """What the command printed, without its colours; when it did not end well, its last line says so."""
    from assent.process.output import cut_middle
    from assent.process.plain import plain

    for_model = str(finished.result.response.get("output", ""))
    printed = plain(finished.display.text) if isinstance(finished.display, TerminalDisplay) else for_model
    ending = for_model.partition("\n")[0]
    failed = f"\n[{ending}]" if ending.startswith(ENDED_BADLY) else ""
    return cut_middle(printed.rstrip("\n"), OUTPUT_LIMIT) + failed
