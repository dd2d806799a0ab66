"""What the applied trials of a session changed, place by place, for whoever may undo it. It changes nothing."""

import os
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assent.app.wording import safe
from assent.events import FileChange

MAX_NAMED = 3


class AppliedPlace(Struct, frozen=True):
    path: str
    """Relative to the workspace."""
    sign: str
    """`+` for what was added, `~` for what was changed, `-` for what was deleted."""
    before: str | None = None
    """The digest of the file, as in `FileChange`; None if it is no file or cannot be read."""
    after: str | None = None


Applied = Mapping[str, Sequence[AppliedPlace]]
"""By `FileChange.effects`. Trials of which nothing is known any more are missing."""


def applied_places(env: Mapping[str, str], changes: Iterable[FileChange]) -> dict[str, Sequence[AppliedPlace]]:
    """For the changes that come from trials."""
    names = [change.effects for change in changes if change.effects]
    if not names:
        return {}
    from assent.app.sandbox_setup import trials_folder
    from assent.files.entries import Effect, Entry
    from assent.files.trial_store import TrialStore

    def digest(entry: Entry | None) -> str | None:
        return "" if entry is None else (entry.sha256 or None) if entry.kind == "file" else None

    def place(effect: Effect) -> AppliedPlace:
        sign = "-" if effect.after is None else "+" if effect.before is None else "~"
        return AppliedPlace(effect.path, sign, digest(effect.before), digest(effect.after))

    store = TrialStore(trials_folder(env))
    found = {name: store.folder(name).applied() for name in names}
    return {name: [place(effect) for effect in effects] for name, effects in found.items() if effects}


def changed_paths(change: FileChange, applied: Applied) -> list[str]:
    """Absolute; for a trial of which nothing is known, the workspace."""
    places = applied.get(change.effects, ()) if change.effects else ()
    return [os.path.join(change.path, place.path) for place in places] or [change.path]


def in_one_line(places: Sequence[AppliedPlace]) -> str:
    named = [safe(place.path, "label") for place in places[:MAX_NAMED]]
    hidden = len(places) - len(named)
    return ", ".join(named) + (f" and {hidden:,} more" if hidden else "")
