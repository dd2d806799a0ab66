"""stop_background_process: ends a background command of the session. Nothing else changes, so it needs no approval."""

from msgspec import Struct

from assent.parts import PlainDisplay
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.background_view import Pid, found_command, in_one_line
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult


class StopBackgroundParams(Struct, frozen=True, forbid_unknown_fields=True):
    pid: Pid


class StopBackgroundTool(Tool[StopBackgroundParams]):
    name = "stop_background_process"
    display_name = "Stop"
    description = "Stops a background command of this session with everything that it started."
    kind = "other"
    main_argument = "pid"
    params = StopBackgroundParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: StopBackgroundParams) -> Invocation:
        return StopBackgroundInvocation(self.commands, params)


class StopBackgroundInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands, params: StopBackgroundParams) -> None:
        self._commands = commands
        self._params = params

    def describe(self) -> str:
        return f"{self._params.pid}"

    def resources(self) -> Resources:
        return Resources(things=("background commands",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = found_command(self._commands, self._params.pid)
        await self._commands.stop(found.call_id)
        return ToolResult(in_one_line(found), PlainDisplay(in_one_line(found)))
