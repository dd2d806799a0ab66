"""undo: reverts what one call wrote, unless the file has changed since. For people; the model is not offered it.

It goes through the same steps as every call: judged by the rules, recorded before it acts, and it can itself be undone.
The previous content comes from the record of the call.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from assent.approval import EditDetails
from assent.events import FileChange
from assent.files.openat import digest_of
from assent.tools.support.edit import MAX_BYTES
from assent.tools.support.files import Files
from assent.tools.support.textfile import NotText, decode
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

if TYPE_CHECKING:
    from assent.tools.support.diff import Diff

NAME = "undo"


class UndoParams(Struct, frozen=True, forbid_unknown_fields=True):
    call_id: Annotated[str, Meta(description="The call whose file change to undo.")]


class UndoTool(Tool[UndoParams]):
    name = NAME
    display_name = "Undo"
    description = "Undoes what an earlier call wrote, unless the file has changed since."
    kind = "edit"
    exact = True
    main_argument = "call_id"
    for_model = False
    params = UndoParams

    def __init__(self, places: Sequence[Files], trials: str = "") -> None:
        """`places`: wherever our tools write; `trials`: where what trials replaced is kept."""
        self.places = places
        self.trials = trials
        self.changes: Mapping[str, FileChange] = {}

    def look_back_on(self, changes: Mapping[str, FileChange]) -> None:
        self.changes = changes

    def invocation(self, params: UndoParams) -> Invocation:
        change = self.changes.get(params.call_id)
        if change is None:
            raise InvalidParams(f"call {params.call_id} wrote no file, so there is nothing to undo")
        files = next((files for files in self.places if files.holds(change.path)), None)
        if files is None:
            raise InvalidParams(f"{change.path} is outside the folder of this session and cannot be changed from here")
        if change.effects:
            from assent.tools.support.undo_effects import EffectsUndo

            return EffectsUndo(files, self.trials, params.call_id, change)
        return UndoInvocation(files, params.call_id, self.changes)


class _Plan(Struct, frozen=True):
    now: bytes | None
    before: bytes | None
    """The content to restore; None: no file."""
    diff: "Diff"


class UndoInvocation(Invocation):
    def __init__(self, files: Files, call_id: str, changes: Mapping[str, FileChange]) -> None:
        self._files = files
        self._call_id = call_id
        self._changes = changes
        self._change = changes[call_id]
        self._shown: _Plan | None = None

    def describe(self) -> str:
        return f"{self._files.shown(self._change.path)} as it was before {self._call_id}"

    def resources(self) -> Resources:
        return Resources(writes=(self._change.path,))

    async def should_confirm(self) -> EditDetails:
        self._shown = plan = self._plan()
        path = self._change.path
        protected = self._files.why_protected(path, "create" if plan.now is None else "write")
        old = None if plan.now is None else _text(plan.now)
        return EditDetails(path=path, diff=plan.diff.text, old=old, new=_text(plan.before or b""), protected=protected)

    def change(self) -> FileChange:
        plan = self._shown or self._plan()
        return replace(self._files.recorded(self._change.path, plan.now, plan.before), takes_back=self._call_id)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        plan, path = self._shown or self._plan(), self._change.path
        if plan.before is not None:
            self._files.write(path, plan.now, plan.before)
        elif plan.now is not None:
            self._files.delete(path, plan.now)
        name = self._files.shown(path)
        done = f"{name} is deleted again." if plan.before is None else f"{name} is as it was before."
        return ToolResult(done, plan.diff.display(name))

    def _plan(self) -> _Plan:
        from assent.tools.support.diff import diff

        path = self._change.path
        now = self._files.read_or_none(path, MAX_BYTES)
        before = self._files.before(self._change)
        if _digest(now) != self._change.after:
            raise ToolFailed("changed_since_shown", self._refusal(now, before))
        shown = diff(self._files.shown(path), None if now is None else _text(now), _text(before or b""))
        return _Plan(now, before, shown)

    def _refusal(self, now: bytes | None, before: bytes | None) -> str:
        name = self._files.shown(self._change.path)
        if now == before:
            return f"{name} is already as it was before this call; there is nothing to undo."
        gone = "was deleted" if now is None else "was changed"
        later = self._later()
        hint = f" Undo the newer changes first: {', '.join(reversed(later))}." if later else ""
        return f"{name} {gone} after this call, so it was not touched.{hint}"

    def _later(self) -> list[str]:
        """Calls that wrote the same file after this one."""
        ids = list(self._changes)
        newer = ids[ids.index(self._call_id) + 1 :]
        return [call_id for call_id in newer if self._changes[call_id].path == self._change.path]


def _digest(data: bytes | None) -> str:
    return "" if data is None else digest_of(data)


def _text(data: bytes) -> str:
    try:
        return decode(data).text
    except NotText:
        return f"(not text, {len(data):,} bytes)\n"
