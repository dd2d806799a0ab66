"""list_background_processes, read_background_output, stop_background_process: the model's view of its background
commands. They change nothing outside Assent, so they need no approval.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.parts import PlainDisplay, TerminalDisplay
from assent.tools.support.background_processes import BackgroundCommands, RunningCommand
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

_Pid = Annotated[int, Meta(description="The process id that run_shell_command returned.")]


class NoParams(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ReadParams(Struct, frozen=True, forbid_unknown_fields=True):
    pid: _Pid
    lines: Annotated[int, Meta(ge=1, le=2000, description="How many of the newest lines.")] = 100


class StopParams(Struct, frozen=True, forbid_unknown_fields=True):
    pid: _Pid


class ListBackgroundTool(Tool[NoParams]):
    name = "list_background_processes"
    display_name = "Background"
    description = "Lists the commands that run in the background of this session, and how earlier ones ended."
    kind = "read"
    params = NoParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: NoParams) -> Invocation:
        return _ListInvocation(self.commands)


class ReadBackgroundTool(Tool[ReadParams]):
    name = "read_background_output"
    display_name = "Background output"
    description = "Returns the newest lines that a background command printed, and whether it still runs."
    kind = "read"
    main_argument = "pid"
    params = ReadParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: ReadParams) -> Invocation:
        return _ReadInvocation(self.commands, params)


class StopBackgroundTool(Tool[StopParams]):
    name = "stop_background_process"
    display_name = "Stop"
    description = "Stops a background command of this session with everything that it started."
    kind = "other"
    main_argument = "pid"
    params = StopParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: StopParams) -> Invocation:
        return _StopInvocation(self.commands, params)


class _ListInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands) -> None:
        self._commands = commands

    def describe(self) -> str:
        return "background commands"

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        text = "\n".join(map(_line, self._commands.all())) or "No commands run in the background."
        return ToolResult(text, PlainDisplay(text))


class _ReadInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands, params: ReadParams) -> None:
        self._commands = commands
        self._params = params

    def describe(self) -> str:
        return f"{self._params.pid}"

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = _found(self._commands, self._params.pid)
        output = found.last_lines(self._params.lines)
        return ToolResult(f"{_line(found)}\nOutput: {output or '(empty)'}", TerminalDisplay(output, found.outcome))


class _StopInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands, params: StopParams) -> None:
        self._commands = commands
        self._params = params

    def describe(self) -> str:
        return f"{self._params.pid}"

    def resources(self) -> Resources:
        return Resources(things=("background commands",))

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = _found(self._commands, self._params.pid)
        await self._commands.stop(found.call_id)
        return ToolResult(_line(found), PlainDisplay(_line(found)))


def _found(commands: BackgroundCommands, pid: int) -> RunningCommand:
    found = commands.find(pid)
    if found is None:
        raise ToolFailed("no_such_process", f"No background command of this session has the process id {pid}.")
    return found


def _line(one: RunningCommand) -> str:
    state = f"ended ({one.outcome})" if one.outcome else f"running for {one.seconds} s"
    return f"{one.pid}: {state}: {one.command}"


def background_tools(
    commands: BackgroundCommands,
) -> tuple[ListBackgroundTool, ReadBackgroundTool, StopBackgroundTool]:
    return ListBackgroundTool(commands), ReadBackgroundTool(commands), StopBackgroundTool(commands)
