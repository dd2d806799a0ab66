"""connect: the question whether a running command in a sandbox may connect to a host. The model cannot call it.

It is a tool so that the question is a record like every other. The sandbox's proxy makes the connection itself; this
tool exists only to be approved.
"""

from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import InfoDetails
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolResult
from assent.web.destinations import CONNECT, Destination, destination
from assent.web.hosts import BadHost

MAX_COMMAND = 120
"""Characters of the command that a question shows; the command itself was shown when it was judged."""


class ConnectParams(Struct, frozen=True, forbid_unknown_fields=True):
    host: Annotated[str, Meta(description="A name or an address.")]
    port: Annotated[int, Meta(description="A port.", gt=0, lt=65536)]
    command: Annotated[str, Meta(description="The command that wants to connect.")]


class ConnectTool(Tool[ConnectParams]):
    name = CONNECT
    display_name = "Connect"
    description = "Asks whether a running command may connect to a host."
    kind = "fetch"
    main_argument = "host"
    params = ConnectParams
    for_model = False

    def invocation(self, params: ConnectParams) -> Invocation:
        try:
            return ConnectInvocation(params.command, destination(params.host, params.port))
        except BadHost as error:
            raise InvalidParams(str(error)) from error


class ConnectInvocation(Invocation):
    def __init__(self, command: str, wanted: Destination) -> None:
        self._command = command
        self._wanted = wanted

    def describe(self) -> str:
        return str(self._wanted)

    async def should_confirm(self) -> InfoDetails:
        return connection_details(self._command, self._wanted)

    def resources(self) -> Resources:
        return Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        return ToolResult(f"The command may connect to {self._wanted}.")


def connection_details(command: str, wanted: Destination) -> InfoDetails:
    line = " ".join(command.split())
    shown = line if len(line) <= MAX_COMMAND else line[:MAX_COMMAND] + "…"
    return InfoDetails(f"`{shown}` wants to connect to {wanted}", (wanted.url,), wanted.warnings())
