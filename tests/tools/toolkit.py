"""What the tests of the tools share: a workspace in a folder, and a way to run a call as the scheduler would."""

import asyncio
from pathlib import Path
from typing import Any

from assent.approval import Details
from assent.files.workspace import Workspace
from assent.parts import InputWanted
from assent.tools.builtin import builtin_tools
from assent.tools.tool import AnyTool, Invocation, Permit, ToolResult, TypeIn
from support.no_network import NoNetwork

PERMIT = Permit(call_id="call", digest="digest", by_person=True)


class LiveRecorder(NoNetwork):
    """A live channel that remembers."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.pids: list[int] = []
        self.counts: list[int] = []
        self.wanted: list[InputWanted | None] = []
        self.types: list[str | None] = []
        """What is typed into commands that ask for it."""

    def output(self, text: str) -> None:
        self.pieces.append(text)

    def received(self, total: int) -> None:
        self.counts.append(total)

    def process(self, pid: int) -> None:
        self.pids.append(pid)

    def asks(self, wanted: InputWanted | None, type_in: TypeIn) -> None:
        self.wanted.append(wanted)
        if wanted is not None and self.types:
            asyncio.get_running_loop().call_soon(type_in, wanted.number, self.types.pop(0))


class Bench:
    """The built-in tools over one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools: dict[str, AnyTool] = {tool.name: tool for tool in builtin_tools(Workspace([str(root)], str(root)))}

    def build(self, tool: str, **args: Any) -> Invocation:
        return self.tools[tool].build(args)

    async def details(self, tool: str, **args: Any) -> Details | None:
        return await self.build(tool, **args).should_confirm()

    async def run(self, tool: str, **args: Any) -> ToolResult:
        invocation = self.build(tool, **args)
        await invocation.should_confirm()
        return await invocation.execute(PERMIT, LiveRecorder())

    async def text(self, tool: str, **args: Any) -> str:
        content = (await self.run(tool, **args)).content
        assert isinstance(content, str)
        return content
