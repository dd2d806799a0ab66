"""undo: takes back what one call wrote, unless the file changed since. For people; the model is not offered it.

It goes the way of every call: judged by the rules, recorded before it acts, and it can be taken back itself. What was
there before comes from the record of the call.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from assent.events import FileChange
from assent.tools.base import InvalidParams, Invocation, Tool
from assent.tools.files import Files
from assent.tools.registry import Registry

NAME = "undo"


class UndoParams(Struct, frozen=True, forbid_unknown_fields=True):
    call_id: Annotated[str, Meta(description="The call whose change of a file shall be taken back.")]


class UndoTool(Tool[UndoParams]):
    name = NAME
    display_name = "Undo"
    description = "Takes back what an earlier call wrote, unless the file changed since."
    kind = "edit"
    exact = True
    main_argument = "call_id"
    for_model = False
    params = UndoParams

    def __init__(self, places: Sequence[Files]) -> None:
        """`places`: wherever our tools write."""
        self.places = places
        self.changes: Mapping[str, FileChange] = {}
        """What calls have changed, in order; see `hand_over`."""

    def invocation(self, params: UndoParams) -> Invocation:
        from assent.tools.undo_call import UndoInvocation

        change = self.changes.get(params.call_id)
        if change is None:
            raise InvalidParams(f"call {params.call_id} wrote no file, so there is nothing to take back")
        files = next((files for files in self.places if files.holds(change.path)), None)
        if files is None:
            raise InvalidParams(f"{change.path} is outside the folder of this session and cannot be changed from here")
        return UndoInvocation(files, params.call_id, self.changes)


def hand_over(changes: Mapping[str, FileChange], registry: Registry) -> None:
    """Lets the undo of these tools see what a session's calls have changed."""
    undo = registry.get(NAME)
    if isinstance(undo, UndoTool):
        undo.changes = changes
