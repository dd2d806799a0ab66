"""Which file changes a rewind would undo, and which files stay because they have changed since. Pure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.folder_view import digest_before

if TYPE_CHECKING:
    from assent.app.session_state import SessionState


class Plan(Struct, frozen=True):
    undo: tuple[str, ...]
    """Calls, newest last."""
    stay: tuple[str, ...]
    """Files that somebody else has changed."""


def plan(state: "SessionState", changes: Sequence[str], now: Mapping[str, str]) -> Plan:
    """`now`: the digest of each file that can be seen from here. Of the others, it turns out when they are undone."""
    files: dict[str, str | None] = dict(now)
    undo: list[str] = []
    stay: list[str] = []
    for call_id in reversed(changes):
        change = state.changes[call_id]
        path, found, before = change.path, files.get(change.path), digest_before(change)
        if path in stay or (found is not None and found == before):
            continue  # it is already as it was
        if change.effects or found in (None, change.after):
            undo.append(call_id)
            files[path] = before
        else:
            stay.append(path)
    return Plan(tuple(reversed(undo)), tuple(stay))
