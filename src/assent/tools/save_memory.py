"""save_memory: one fact for all future conversations, as a line under one heading of the user's own context file."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import EditDetails
from assent.files.private_folder import make_private
from assent.parts import JsonObject
from assent.tools.support.edit import EditInvocation
from assent.tools.support.files import Files, check_text
from assent.tools.support.textfile import TextFile
from assent.tools.tool import InvalidParams, Invocation, Live, Modifiable, Permit, Tool, ToolResult

MAX_FACT_LENGTH = 2_000
HEADING = "## Remembered"
LASTING = "the model reads it in every conversation from now on"


class SaveMemoryParams(Struct, frozen=True, forbid_unknown_fields=True):
    fact: Annotated[str, Meta(description="The fact, as one short sentence that makes sense on its own.")]


class SaveMemoryTool(Tool[SaveMemoryParams]):
    name = "save_memory"
    display_name = "SaveMemory"
    description = (
        "Remembers a fact about the user or their preferences for all future conversations. Use it if the user "
        "asks you to remember something or states a lasting preference, not for facts about this conversation."
    )
    kind = "think"
    exact = True
    main_argument = "fact"
    params = SaveMemoryParams

    def __init__(self, memory: Files, name: str) -> None:
        """`memory` is the folder of the user's settings, `name` the context file in it."""
        self.memory = memory
        self.file = name

    def invocation(self, params: SaveMemoryParams) -> Invocation:
        check_text(params.fact, "fact")
        if not params.fact.strip():
            raise InvalidParams("fact must not be empty")
        if len(params.fact) > MAX_FACT_LENGTH:
            raise InvalidParams(f"fact must not be longer than {MAX_FACT_LENGTH} characters; keep only what matters")
        return SaveMemoryInvocation(self, params)


class SaveMemoryInvocation(EditInvocation):
    def __init__(self, tool: SaveMemoryTool, params: SaveMemoryParams) -> None:
        super().__init__(tool.memory, os.path.join(tool.memory.root, tool.file))
        self._fact = " ".join(params.fact.split())  # one line, so that it cannot become a heading or an import

    def describe(self) -> str:
        return self._fact

    def modifiable(self) -> Modifiable | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None

    async def should_confirm(self) -> EditDetails:
        """Needs approval even if edits run without it, because it outlives the conversation."""
        shown = await super().should_confirm()
        return EditDetails(
            path=shown.path, diff=shown.diff, old=shown.old, new=shown.new, protected=shown.protected or LASTING
        )

    def edited(self, current: TextFile | None) -> TextFile:
        if current is None:
            return TextFile(f"{HEADING}\n\n- {self._fact}\n")
        return current.with_text(_with_line(current.text, f"- {self._fact}"))

    def args_for(self, content: str) -> JsonObject:
        raise NotImplementedError("to change what is remembered, edit the file")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        make_private(self._files.root)
        done = await super().execute(permit, live)
        return ToolResult(f"Remembered: {self._fact}", done.display)


def _with_line(text: str, line: str) -> str:
    """After the last line under the heading; if there is no heading, at the end, with the heading."""
    lines = text.rstrip("\n").split("\n")
    if HEADING not in lines:
        return "\n".join([*lines, "", HEADING, "", line, ""]).lstrip("\n")
    start = lines.index(HEADING) + 1
    end = next((i for i in range(start, len(lines)) if lines[i].startswith("#")), len(lines))
    while end > start and not lines[end - 1].strip():
        end -= 1
    blank = [""] if end == start else []
    return "\n".join([*lines[:end], *blank, line, *lines[end:], ""])
