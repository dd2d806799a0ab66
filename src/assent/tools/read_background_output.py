"""read_background_output: the newest output of a background command. It changes nothing, so it needs no approval."""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import TerminalDisplay
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.background_view import Pid, found_command, in_one_line
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult


class ReadBackgroundParams(Struct, frozen=True, forbid_unknown_fields=True):
    pid: Pid
    lines: Annotated[int, Meta(ge=1, le=2000, description="How many of the newest lines.")] = 100


class ReadBackgroundTool(Tool[ReadBackgroundParams]):
    name = "read_background_output"
    display_name = "Background output"
    description = "Returns the newest lines that a background command printed, and whether it is still running."
    kind = "read"
    main_argument = "pid"
    params = ReadBackgroundParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: ReadBackgroundParams) -> Invocation:
        return ReadBackgroundInvocation(self.commands, params)


class ReadBackgroundInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands, params: ReadBackgroundParams) -> None:
        self._commands = commands
        self._params = params

    def describe(self) -> str:
        return f"{self._params.pid}"

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = found_command(self._commands, self._params.pid)
        output = found.last_lines(self._params.lines)
        report = f"{in_one_line(found)}\nOutput: {output or '(empty)'}"
        return ToolResult(report, TerminalDisplay(output, found.outcome.removeprefix("exit 0")))
