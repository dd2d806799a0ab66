"""Shared by write_file and replace: a plan of the whole change, shown first, then written exactly as shown.

`should_confirm` makes the plan from the current file, or from what earlier calls of the batch would leave, and keeps
it; `execute` writes it only if the file still has the bytes that the plan started from. Each tool decides how to
produce the new text.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.approval import EditDetails
from assent.events import FileChange
from assent.files.workspace import PathVerdict
from assent.parts import JsonObject
from assent.tools.support.files import Files
from assent.tools.support.textfile import NotText, TextFile, decode
from assent.tools.tool import Earlier, Invocation, Live, Modifiable, Permit, Proposal, Resources, ToolFailed, ToolResult

if TYPE_CHECKING:
    from assent.tools.support.diff import Diff

MAX_BYTES = 20_000_000


class Plan(Struct, frozen=True, kw_only=True):
    """One change to one file: its bytes before and after."""

    path: str
    before: bytes | None
    """None: there was no file."""
    old: str | None
    new: str
    after: bytes
    diff: "Diff"
    place: PathVerdict


class EditInvocation(Invocation):
    """It is its own `Modifiable`; subclasses say in `args_for` which arguments produce an edited content."""

    def __init__(self, files: Files, file_path: str) -> None:
        self._files = files
        self._file_path = file_path
        self._shown: Plan | None = None
        self._earlier: Earlier = _as_on_disk
        self._fits = True

    @abstractmethod
    def edited(self, current: TextFile | None) -> TextFile:
        """The new content of the file, given the current one. Raises ToolFailed."""

    def report_notes(self) -> str:
        """What the model should know about how the change was made."""
        return ""

    @abstractmethod
    def args_for(self, content: str) -> JsonObject: ...

    def describe(self) -> str:
        return self._file_path

    def resources(self) -> Resources:
        return Resources(writes=(self._files.absolute(self._file_path),))

    def build_on(self, earlier: Earlier) -> None:
        self._earlier = earlier

    def proposal(self) -> Proposal | None:
        return None if self._shown is None else Proposal(self._shown.path, self._shown.after)

    async def should_confirm(self) -> EditDetails:
        """A failing change reveals the current content, so that is judged, too, before the model is told."""
        self._shown = None  # if no plan is possible now, the previous one must not be used
        place = self._files.writable(self._file_path)
        try:
            self._shown = plan = self._make_plan(place)
        except ToolFailed as failed:
            self._fits = False
            failed.tells_of = self._details(place, "", "", "")
            raise
        self._fits = True
        return self._details(place, plan.diff.text, plan.old, plan.new)

    def _details(self, place: PathVerdict, change: str, old: str | None, new: str) -> EditDetails:
        secret = "" if old is None else self._files.why_asked(self._file_path)
        protected = place.reason if place.kind == "protected" else secret
        return EditDetails(
            path=place.path, diff=change, old=old, new=new, protected=protected, runs=place.runs, secret=secret
        )

    def change(self) -> FileChange:
        plan = self._plan()
        return self._files.recorded(plan.path, plan.before, plan.after)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        plan = self._shown or self._make_plan()
        self._files.write(plan.path, plan.before, plan.after)
        self._note_written(plan)
        return ToolResult(self._report(plan), plan.diff.display(self._files.shown(plan.path)))

    def _note_written(self, plan: Plan) -> None:
        """What the model knows of the file now."""
        self._files.known.note_changed(plan.path, plan.before, plan.after)

    # --- what a person may edit before approving ---

    def modifiable(self) -> Modifiable | None:
        return self if self._fits else None

    def file_path(self) -> str:
        return self._plan().path

    def current_content(self) -> str:
        return self._plan().old or ""

    def proposed_content(self) -> str:
        return self._plan().new

    # --- the plan ---

    def _plan(self) -> Plan:
        if self._shown is None:
            self._shown = self._make_plan()
        return self._shown

    def _make_plan(self, place: PathVerdict | None = None) -> Plan:
        from assent.tools.support.diff import diff

        place = place or self._files.writable(self._file_path)
        path = place.path
        before = self._before(path)
        current = None if before is None else self._decoded(before)
        wanted = self.edited(current)
        old = None if current is None else current.text
        made = diff(self._files.shown(path), old, wanted.text)
        return Plan(
            path=path, before=before, old=old, new=wanted.text, after=self._encoded(wanted), diff=made, place=place
        )

    def _before(self, path: str) -> bytes | None:
        pending = self._earlier(path)
        return self._on_disk(path) if pending is None else pending.after

    def _on_disk(self, path: str) -> bytes | None:
        return self._files.read_or_none(path, MAX_BYTES)

    def _decoded(self, data: bytes) -> TextFile:
        try:
            return decode(data)
        except NotText:
            message = f"{self._file_path} is not a text file, so a change to it cannot be shown; it was not changed."
            raise ToolFailed("edit_preparation_failure", message) from None

    def _encoded(self, file: TextFile) -> bytes:
        try:
            return file.encoded()
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            message = f"{self._file_path} is encoded in {file.encoding}, which has no character {character!r}."
            raise ToolFailed("edit_preparation_failure", message) from error

    def _report(self, plan: Plan) -> str:
        from assent.tools.support.diff import changed_lines

        name = self._files.shown(plan.path)
        if plan.before is None:
            return f"Created {name} ({plan.diff.added} lines)."
        head = f"Changed {name}: {plan.diff.added} line(s) added, {plan.diff.removed} removed."
        head = "\n".join(filter(None, (head, self.report_notes())))
        return f"{head}\n{changed_lines(plan.new, plan.diff.changes)}" if plan.diff.changes else head


def _as_on_disk(path: str) -> Proposal | None:
    return None
