"""Which file changes a rewind would undo, and which files stay because they have changed since. Pure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.applied_trials import Applied, changed_paths
from assent.app.folder_view import digest_before
from assent.events import FileChange

if TYPE_CHECKING:
    from assent.app.session_state import SessionState


class Plan(Struct, frozen=True):
    undo: tuple[str, ...]
    """Calls, newest last."""
    stay: tuple[str, ...]
    """Files that somebody else has changed."""


class _Step(Struct, frozen=True):
    """One file before and after a call; None: unknown."""

    path: str
    before: str | None
    after: str | None


def plan(state: "SessionState", changes: Sequence[str], now: Mapping[str, str], applied: Applied) -> Plan:
    """`now`: the digest of each file that can be seen from here. Of the others, it turns out when they are undone. The
    effects of a trial are undone together or not at all.
    """
    files: dict[str, str | None] = dict(now)
    undo: list[str] = []
    stay: list[str] = []
    for call_id in reversed(changes):
        steps = _steps(state.changes[call_id], applied)
        if steps and all(files.get(one.path) is not None and files[one.path] == one.before for one in steps):
            continue  # it is already as it was
        if changed := [one.path for one in steps if _has_changed(one, files.get(one.path))]:
            stay += [path for path in changed if path not in stay]
        elif not any(one.path in stay for one in steps):
            undo.append(call_id)
            files |= {one.path: one.before for one in steps}
    return Plan(tuple(reversed(undo)), tuple(stay))


def _steps(change: FileChange, applied: Applied) -> list[_Step]:
    """Empty for a trial of which nothing is known."""
    if not change.effects:
        return [_Step(change.path, digest_before(change), change.after)]
    places = applied.get(change.effects, ())
    paths = changed_paths(change, applied)
    return [_Step(path, one.before, one.after) for path, one in zip(paths, places, strict=False)]


def _has_changed(step: _Step, found: str | None) -> bool:
    return None not in (found, step.after) and found not in (step.before, step.after)
