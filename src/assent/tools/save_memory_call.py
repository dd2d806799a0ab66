"""A call of save_memory: a line more under one heading of the user's own context file."""

import os

from assent.approval import EditDetails
from assent.files.private import make_private
from assent.parts import JsonObject
from assent.tools.base import Live, Modifiable, Permit, ToolResult
from assent.tools.edit import EditInvocation
from assent.tools.save_memory import SaveMemoryParams, SaveMemoryTool
from assent.tools.textfile import TextFile

HEADING = "## Remembered"
LASTING = "the model is told what it says in every conversation from now on"


class SaveMemoryInvocation(EditInvocation):
    def __init__(self, tool: SaveMemoryTool, params: SaveMemoryParams) -> None:
        super().__init__(tool.memory, os.path.join(tool.memory.root, tool.file))
        self._fact = " ".join(
            params.fact.split()
        )  # one line, so that it cannot become a heading or an import of its own

    def describe(self) -> str:
        return self._fact

    def modifiable(self) -> Modifiable | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None

    async def should_confirm(self) -> EditDetails:
        """Asked also where edits run by themselves: it outlives the conversation."""
        shown = await super().should_confirm()
        return EditDetails(shown.path, shown.diff, shown.old, shown.new, shown.protected or LASTING)

    def edited(self, current: TextFile | None) -> TextFile:
        if current is None:
            return TextFile(f"{HEADING}\n\n- {self._fact}\n")
        return current.with_text(_with_line(current.text, f"- {self._fact}"))

    def args_for(self, content: str) -> JsonObject:
        raise NotImplementedError("what is remembered is changed in the file")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        make_private(self._files.root)
        done = await super().execute(permit, live)
        return ToolResult(f"Remembered: {self._fact}", done.display)


def _with_line(text: str, line: str) -> str:
    """After the last line under the heading; at the end, with the heading, when there is none."""
    lines = text.rstrip("\n").split("\n")
    if HEADING not in lines:
        return "\n".join([*lines, "", HEADING, "", line, ""]).lstrip("\n")
    start = lines.index(HEADING) + 1
    end = next((i for i in range(start, len(lines)) if lines[i].startswith("#")), len(lines))
    while end > start and not lines[end - 1].strip():
        end -= 1
    blank = [""] if end == start else []
    return "\n".join([*lines[:end], *blank, line, *lines[end:], ""])
