"""How the parts of a trial are numbered: one per hunk of a changed file, or one for all of an effect.

Apart from the data, because only those who show or choose parts need the hunks of a diff.
"""

from collections.abc import Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from assent.hunks import Hunk, hunks
from assent.trial import ShownEffect, Trial


class ShownPart(Struct, frozen=True, gc=False):
    """A part that can be chosen: one hunk of an effect, or all of it."""

    number: int
    effect: ShownEffect
    hunks: tuple[Hunk, ...]
    which: str = ""
    """For one of several parts of a file, e.g. `1 of 2`."""


def shown_parts(trial: Trial) -> Iterator[ShownPart]:
    """All parts in the order in which they are shown, numbered as in an answer; `number` is -1 for what is never
    applied.
    """
    number = 0
    for effect in trial.effects:
        found = tuple(hunks(effect.diff))
        if effect.parts > 1:
            for place, hunk in enumerate(found, start=1):
                yield ShownPart(number, effect, (replace(hunk, number=number),), f"{place} of {effect.parts}")
                number += 1
        else:
            here = number if effect.parts else -1
            yield ShownPart(here, effect, tuple(replace(hunk, number=here) for hunk in found))
            number += effect.parts


def repository_with_left_out(trial: Trial, left_out: Collection[int]) -> str:
    """A repository that is applied, always as a whole, while another part is left out: what that part did may be in its
    index or its commits. Empty if there is none.
    """
    taken = (part for part in shown_parts(trial) if part.number >= 0 and part.number not in left_out)
    paths = (part.effect.path for part in taken if part.effect.path.rpartition("/")[2] == ".git")
    return next(paths, "") if left_out else ""
