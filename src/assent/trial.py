"""What a command did when it was tried: the effects as a person is shown them.

Plain frozen data, part of the question and of its digest. An answer may choose among the parts, as it may among the
hunks of an edit; `trial_parts.py` numbers them. It knows no file system: `assent.files` finds effects and applies them.
"""

from typing import Literal

from msgspec import Struct

What = Literal["added", "changed", "deleted"]


class ShownEffect(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """One effect, or several that only make sense together."""

    path: str
    """Relative to the workspace."""
    what: What
    summary: str = ""
    """What a diff does not show: the mode, the target of a link, the size of a binary file, how many files."""
    diff: str = ""
    parts: int = 1
    """How many parts of it can be chosen; 0 if it is never applied."""
    files: int = 1
    notes: tuple[str, ...] = ()
    """What a person should know about it, e.g. that tools run this file."""
    refused: str = ""
    """Why it is never applied."""


class Trial(Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """One trial of a command, in a copy of the workspace and without network."""

    store: str
    """The name under which the changed files are kept until they are applied or discarded."""
    effects: tuple[ShownEffect, ...]
    manifest: str
    """A digest of all effects, with the hash of every file before and after."""
    output: str
    ended: str
    """How the command ended, e.g. `exit code 1`."""
    notes: tuple[str, ...] = ()
    """What limits the result, e.g. that the trial timed out."""
    stale: tuple[str, ...] = ()
    """Files that someone else has changed since the trial: it cannot be applied."""
    left_out: tuple[int, ...] = ()
    """The numbers of the parts that the person left out."""

    @property
    def parts(self) -> int:
        return sum(effect.parts for effect in self.effects)

    @property
    def files(self) -> int:
        """How many files it would change."""
        return sum(effect.files for effect in self.effects if effect.parts)


def in_short(trial: Trial) -> str:
    """The effects in one line, for a title or a list."""
    counts = {what: sum(one.files for one in trial.effects if one.what == what and one.parts) for what in _WORDS}
    said = [f"{count:,} {'file' if count == 1 else 'files'} {what}" for what, count in counts.items() if count]
    refused = sum(one.files for one in trial.effects if not one.parts)
    said += [f"{refused:,} not applied"] if refused else []
    return ", ".join(said) or "nothing changed"


_WORDS: tuple[What, ...] = ("added", "changed", "deleted")
