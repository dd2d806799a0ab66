"""list_background_processes: the background commands of the session. It changes nothing, so it needs no approval."""

from msgspec import Struct

from assent.parts import PlainDisplay
from assent.tools.support.background_processes import BackgroundCommands
from assent.tools.support.background_view import in_one_line
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult


class ListBackgroundParams(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ListBackgroundTool(Tool[ListBackgroundParams]):
    name = "list_background_processes"
    display_name = "Background"
    description = "Lists the commands that are running in the background of this session, and how earlier ones ended."
    kind = "read"
    params = ListBackgroundParams

    def __init__(self, commands: BackgroundCommands) -> None:
        self.commands = commands

    def invocation(self, params: ListBackgroundParams) -> Invocation:
        return ListBackgroundInvocation(self.commands)


class ListBackgroundInvocation(Invocation):
    def __init__(self, commands: BackgroundCommands) -> None:
        self._commands = commands

    def describe(self) -> str:
        return "background commands"

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        text = "\n".join(map(in_one_line, self._commands.all())) or "No commands are running in the background."
        return ToolResult(text, PlainDisplay(text))
