"""Undoes the effects of a trial that were applied: every place as it was before, if nobody has changed it since.

It works the same way as applying: all places are compared first, what is replaced is kept, and a crash in the middle is
known afterwards. So an undo can be undone, and so can effects that were applied only in part.
"""

import asyncio
import os
import secrets
from collections.abc import Sequence

from assent.approval import EditDetails
from assent.events import FileChange
from assent.files.apply_effects import Changed, Contents, PartlyApplied, apply_effects, reversal
from assent.files.entries import Effect, Entry
from assent.files.trial_store import TrialFolder, TrialStore
from assent.parts import PlainDisplay
from assent.tools.support.files import Files
from assent.tools.tool import Invocation, Live, Permit, Resources, ToolFailed, ToolResult

_MAX_LISTED = 200


class EffectsUndo(Invocation):
    def __init__(self, files: Files, trials: str, call_id: str, change: FileChange) -> None:
        self._files = files
        self._call_id = call_id
        self._change = change
        self._kept = TrialStore(trials).folder(change.effects)
        self._own = TrialStore(trials).folder(f"undo-{secrets.token_hex(8)}")
        self._planned: tuple[Effect, ...] | None = None

    def describe(self) -> str:
        return f"the workspace as it was before {self._call_id}"

    def resources(self) -> Resources:
        return Resources(writes=tuple(os.path.join(self._change.path, one.path) for one in self._applied()))

    async def should_confirm(self) -> EditDetails:
        self._planned = await asyncio.to_thread(self._plan)
        words = "\n".join(_in_words(effect) for effect in self._planned[:_MAX_LISTED])
        return EditDetails(path=self._change.path, diff=words, old=None, new="")

    def change(self) -> FileChange:
        return FileChange(
            path=self._change.path, after=self._change.after, effects=self._own.name, takes_back=self._call_id
        )

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        effects = self._planned or await asyncio.to_thread(self._plan)
        await asyncio.to_thread(self._undo, effects)
        said = f"{len(effects):,} place(s) are as they were before {self._call_id}."
        listed = "\n".join(_in_words(effect) for effect in effects[:_MAX_LISTED])
        return ToolResult(said, PlainDisplay(f"{said}\n{listed}"))

    def _applied(self) -> tuple[Effect, ...]:
        return self._kept.applied() or ()

    def _plan(self) -> tuple[Effect, ...]:
        """What to reverse: only what is in the workspace."""
        effects = self._applied()
        if not effects:
            message = "What this call replaced is no longer kept, so it cannot be undone."
            raise ToolFailed("read_content_failure", message)
        reverse, other = reversal(self._change.path, effects, interrupted=self._kept.was_interrupted)
        if other:
            raise _changed(other)
        if not reverse:
            raise ToolFailed("changed_since_shown", "Everything is already as it was before this call.")
        return tuple(reverse)

    def _undo(self, effects: tuple[Effect, ...]) -> None:
        self._own.begin_applying(effects)
        try:
            apply_effects(self._change.path, effects, _contents(self._kept), self._own.kept)
        except Changed as error:
            raise _changed(error.paths) from error
        except PartlyApplied as error:
            done = ", ".join(dict.fromkeys(error.done)) or "nothing"
            raise ToolFailed("apply_failed", f"It was undone only in part: {error}. Undone: {done}.") from error
        except OSError as error:
            raise ToolFailed("apply_failed", f"Nothing was undone: {error}.") from error
        self._own.end_applying()


def _contents(kept: TrialFolder) -> Contents:
    def content(path: str, entry: Entry) -> str:
        return os.path.join(kept.kept, entry.sha256)

    return content


def _changed(paths: Sequence[str]) -> ToolFailed:
    names = ", ".join(paths[:12])
    return ToolFailed("changed_since_shown", f"Changed since, so nothing was touched: {names}.")


def _in_words(effect: Effect) -> str:
    if effect.after is None:
        return f"- {effect.path}"
    return f"{'+' if effect.before is None else '~'} {effect.path}"
