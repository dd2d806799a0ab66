"""Small real tools for tests: each does one observable thing, and lets the test decide when."""

import asyncio
from collections.abc import Awaitable
from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import Details, EditDetails, ExecDetails, InfoDetails, McpDetails
from assent.events import DurableEvent, TransientEvent
from assent.parts import JsonObject, PlainDisplay
from assent.tools.support.diff import diff
from assent.tools.tool import (
    Earlier,
    Invocation,
    Live,
    Modifiable,
    Permit,
    Proposal,
    Resources,
    Tool,
    ToolFailed,
    ToolResult,
)


class World:
    """What the tools of a test touch: files, a list of effects, and gates that hold a call until they open."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.files: dict[str, str] = {}
        self.doors: dict[str, asyncio.Event] = {}
        self.output = ""
        """What every note gives back, besides its text."""
        self.running = 0
        self.most_running = 0

    def door(self, name: str) -> asyncio.Event:
        return self.doors.setdefault(name, asyncio.Event())


class NoteParams(Struct, forbid_unknown_fields=True):
    text: Annotated[str, Meta(description="what to note", min_length=1)]
    door: str = ""
    fail: str = ""
    print: str = ""
    path: str = ""


class _Note(Invocation):
    def __init__(self, params: NoteParams, world: World, details: Details | None) -> None:
        self._params = params
        self._world = world
        self._details = details

    def describe(self) -> str:
        return f"note {self._params.text}"

    async def should_confirm(self) -> Details | None:
        if self._params.fail == "deciding":
            raise RuntimeError("cannot decide")
        return self._details

    def resources(self) -> Resources:
        return Resources(writes=(self._params.path,)) if self._params.path else Resources()

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        world, params = self._world, self._params
        world.running += 1
        world.most_running = max(world.most_running, world.running)
        try:
            world.effects.append(params.text)
            if params.print:
                live.output(params.print)
            if params.door:
                await world.door(params.door).wait()
        finally:
            world.running -= 1
        self._raise()
        return ToolResult(f"noted {params.text}{world.output}", PlainDisplay(params.text))

    def _raise(self) -> None:
        match self._params.fail:
            case "tool":
                raise ToolFailed("note_failed", "the pencil broke")
            case "bug":
                raise ZeroDivisionError("a bug")
            case _:
                pass


class ReadNote(Tool[NoteParams]):
    """Harmless: never needs approval."""

    name = "read_note"
    display_name = "Read note"
    description = "Reads a note."
    kind = "read"
    main_argument = "text"
    params = NoteParams

    def __init__(self, world: World) -> None:
        self.world = world

    def invocation(self, params: NoteParams) -> Invocation:
        return _Note(params, self.world, None)


class RunNote(ReadNote):
    """Like a shell command: asks with exec details."""

    name = "run_note"
    kind = "execute"
    can_update_output = True

    def invocation(self, params: NoteParams) -> Invocation:
        return _Note(
            params,
            self.world,
            ExecDetails(
                command=params.text,
                roots=(params.text.split()[0],),
                directory="/w",
                risk="low",
                risk_reason="it is a test",
            ),
        )


class FetchNote(ReadNote):
    """Like a web request: asks with info details; `text` is the URL."""

    name = "fetch_note"
    kind = "fetch"

    def invocation(self, params: NoteParams) -> Invocation:
        return _Note(params, self.world, InfoDetails(f"fetch {params.text}", (params.text,)))


class ServerNote(ReadNote):
    """Like a tool of an MCP server."""

    name = "mcp_notes_add"
    kind = "other"
    server = "notes"

    def invocation(self, params: NoteParams) -> Invocation:
        return _Note(params, self.world, McpDetails(server="notes", tool="add", args={"text": params.text}))


class OtherServerNote(ServerNote):
    name = "mcp_notes_remove"


class EditParams(Struct, forbid_unknown_fields=True):
    path: str
    content: str


class _Edit(Invocation):
    def __init__(self, params: EditParams, world: World) -> None:
        self._params = params
        self._world = world
        self._shown: str | None = None

    def describe(self) -> str:
        return f"edit {self._params.path}"

    async def should_confirm(self) -> Details | None:
        self._shown = self._world.files.get(self._params.path)
        shown = diff(self._params.path, self._shown, self._params.content).text
        return EditDetails(path=self._params.path, diff=shown, old=self._shown, new=self._params.content)

    def resources(self) -> Resources:
        return Resources(writes=(self._params.path,))

    def modifiable(self) -> Modifiable | None:
        return self

    def file_path(self) -> str:
        return self._params.path

    def current_content(self) -> str:
        return self._world.files.get(self._params.path, "")

    def proposed_content(self) -> str:
        return self._params.content

    def args_for(self, content: str) -> JsonObject:
        return {"path": self._params.path, "content": content}

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        if self._world.files.get(self._params.path) != self._shown:
            raise ToolFailed("changed_since_shown", "the file changed since it was shown")
        self._world.files[self._params.path] = self._params.content
        self._world.effects.append(f"{self._params.path}={self._params.content}")
        return ToolResult("written")


class EditNote(Tool[EditParams]):
    name = "edit_note"
    display_name = "Edit note"
    description = "Edits a note."
    kind = "edit"
    main_argument = "path"
    params = EditParams

    def __init__(self, world: World) -> None:
        self.world = world

    def invocation(self, params: EditParams) -> Invocation:
        return _Edit(params, self.world)


class _StackedEdit(_Edit):
    """Starts from what earlier calls of the batch would leave, as the real ones do."""

    _earlier: Earlier | None = None

    def build_on(self, earlier: Earlier) -> None:
        self._earlier = earlier

    def proposal(self) -> Proposal | None:
        return Proposal(self._params.path, self._params.content.encode())

    async def should_confirm(self) -> Details | None:
        pending = self._earlier(self._params.path) if self._earlier is not None else None
        self._shown = self._world.files.get(self._params.path) if pending is None else pending.after.decode()
        shown = diff(self._params.path, self._shown, self._params.content).text
        return EditDetails(path=self._params.path, diff=shown, old=self._shown, new=self._params.content)


class StackedEditNote(EditNote):
    def invocation(self, params: EditParams) -> Invocation:
        return _StackedEdit(params, self.world)


class ListJournal:
    """A journal in memory; `record` can be made to fail, as on a full disk."""

    def __init__(self) -> None:
        self.events: list[DurableEvent] = []
        self.announced: list[TransientEvent] = []
        self.broken: Exception | None = None

    def record(self, *events: DurableEvent) -> Awaitable[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.broken is not None:
            done.set_exception(self.broken)
        else:
            self.events.extend(events)
            done.set_result(None)
        return done

    def announce(self, event: TransientEvent) -> None:
        self.announced.append(event)
