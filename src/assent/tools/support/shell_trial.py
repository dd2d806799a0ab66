"""The trial of one command: runs it in an overlay, shows what it did, and applies that, or discards it.

`try_out` tries, `shown` says what would be applied now, `accept` leaves parts out, `apply` writes exactly what was
shown.
What a trial left is found again by its name, so that a question about it outlives the process.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assent import failpoints
from assent.events import FileChange
from assent.files.apply_effects import Changed, PartlyApplied, apply_effects, changed_places, progress
from assent.files.entries import Effect, Entry
from assent.files.openat import digest_of
from assent.files.trial_store import TrialFolder, TrialResult
from assent.files.upper_folder import UpperChanges, read_upper
from assent.hunks import BadHunks
from assent.parts import TerminalDisplay
from assent.sandbox.confinement import Unconfined
from assent.sandbox.trials import StartedTrial, Trials
from assent.tools.support.effect_groups import EffectGroup, groups_of, with_folders
from assent.tools.support.effects_view import EffectViewer, FolderReader, partly
from assent.tools.support.overlay_limits import overlay_limit
from assent.tools.tool import Live, Permit, ToolFailed, ToolResult
from assent.trial import ShownEffect, Trial, in_short
from assent.trial_parts import ShownPart, repository_with_left_out, shown_parts

T = TypeVar("T")
MAX_OUTPUT = 20_000
"""Characters of output that the question shows: the last ones."""
_MAX_STALE = 20
_MAX_NAMED = 12
_ONCE_MORE = "The command is tried once more, in a full copy."


class TriedCommand(Struct, frozen=True):
    """How the command ended: for the person and for the model."""

    output: str
    ended: str
    report: str
    notes: tuple[str, ...] = ()


Run = Callable[[Permit, Live, StartedTrial], Awaitable[TriedCommand]]


class ShellTrial:
    """A command that can be tried. It knows how to run it, and where."""

    def __init__(self, trials: Trials, run: Run, directory: Callable[[], str]) -> None:
        self._trials = trials
        self._run = run
        self._directory = directory
        self._folder: TrialFolder | None = None
        self._result: TrialResult | None = None
        self._groups: list[EffectGroup] = []
        self._left_out: tuple[int, ...] = ()

    # --- trying ---

    async def problem(self) -> str:
        return await self._trials.problem()

    async def try_out(self, permit: Permit, live: Live) -> None:
        """Raises ToolFailed if it cannot be tried; nothing is left then, or if it is cancelled."""
        self._forget()
        if again := await self._try_once(permit, live, copied=False):
            live.output(f"\n[{again} {_ONCE_MORE}]\n")
            await self._try_once(permit, live, copied=True)

    async def _try_once(self, permit: Permit, live: Live, *, copied: bool) -> str:
        """In an overlay, or in a full copy. Returns which limit of overlays the command met, if a copy has none."""
        name = permit.mark
        try:
            started = await self._trials.start(name, self._directory(), copied=copied)
        except (Unconfined, OSError) as error:
            raise ToolFailed("trial_unavailable", f"The command could not be tried: {error}") from error
        try:
            tried = await self._run(permit, live, started)
            limit = "" if started.copied is not None else overlay_limit(tried.output)
            no_copy = await self._trials.copy_problem() if limit else ""
            if limit and not no_copy:
                return limit
            notes = (*tried.notes, *([f"{limit} It may work outside a trial; {no_copy}."] if limit else []))
            result = await asyncio.to_thread(self._finish, started, msgspec.structs.replace(tried, notes=notes))
            self._take(started.folder, result)
            return ""
        except BaseException:
            await _in_thread(self._trials.store.remove, name)
            raise
        finally:
            started.folder.release()

    def _finish(self, started: StartedTrial, tried: TriedCommand) -> TrialResult:
        folder, root = started.folder, self._trials.root
        found = read_upper(folder.upper, root, started.since, started.copied)
        groups = groups_of(found.effects)
        viewer = EffectViewer(root, FolderReader(root), FolderReader(folder.upper), found.notes)
        refused = [ShownEffect(path=one.path, what="added", parts=0, refused=one.reason) for one in found.unappliable]
        result = TrialResult(
            effects=tuple(found.effects),
            unappliable=tuple(found.unappliable),
            shown=(*viewer.show(groups), *refused),
            output=tried.output[-MAX_OUTPUT:],
            ended=tried.ended,
            report=tried.report,
            notes=tried.notes,
            changed_meanwhile=tuple(sorted(set(_meanwhile(found)))),
        )
        failpoints.hit("trial read")
        folder.save(result)
        failpoints.hit("trial kept")
        return result

    async def resume(self, shown: Trial) -> bool:
        """Take up a trial of an earlier process; False if nothing of it is left."""
        folder = self._trials.store.folder(shown.store)
        result = await asyncio.to_thread(folder.result)
        if result is None or _manifest(result) != shown.manifest:
            return False
        self._take(folder, result)
        return True

    def _take(self, folder: TrialFolder, result: TrialResult) -> None:
        self._folder, self._result = folder, result
        self._groups, self._left_out = groups_of(result.effects), ()

    def _forget(self) -> None:
        self._folder, self._result, self._groups, self._left_out = None, None, [], ()

    async def discard(self, mark: str = "") -> None:
        """Nothing of it is left. `mark`: also what a process that was killed left under it."""
        names = {mark, "" if self._folder is None else self._folder.name} - {""}
        self._forget()
        for one in names:
            await _in_thread(self._trials.store.remove, one)

    # --- showing and choosing ---

    async def shown(self) -> Trial | None:
        """What applying it would do now; None if nothing was tried."""
        if self._folder is None or self._result is None:
            return None
        result = self._result
        changed = await asyncio.to_thread(self._stale)
        return Trial(
            store=self._folder.name,
            effects=result.shown,
            manifest=_manifest(result),
            output=result.output,
            ended=result.ended,
            notes=result.notes,
            stale=tuple(changed[:_MAX_STALE]),
            left_out=self._left_out,
        )

    def _stale(self) -> list[str]:
        assert self._result is not None
        effects, _ = self._chosen()
        changed = changed_places(self._trials.root, effects)
        return sorted({*changed, *self._result.changed_meanwhile})

    def accept(self, chosen: tuple[int, ...] | None) -> None:
        """Apply only these parts; None for all. Raises BadHunks."""
        assert self._result is not None
        number = sum(one.parts for one in self._result.shown)
        wanted = set(range(number)) if chosen is None else set(chosen)
        if unknown := wanted - set(range(number)):
            raise BadHunks(f"there is no part {min(unknown)}: this trial has parts 0 to {number - 1}")
        if number and not wanted:
            raise BadHunks("no part is chosen; to discard all of it, say no")
        self._left_out = tuple(sorted(set(range(number)) - wanted))

    def _chosen(self) -> tuple[list[Effect], dict[str, bytes]]:
        """The effects without the parts left out, and the new content of files that are changed only in part."""
        assert self._result is not None
        left, number = set(self._left_out), 0
        picked: list[Effect] = []
        contents: dict[str, bytes] = {}
        for group, shown in zip(self._groups, self._result.shown, strict=False):
            numbers = [one for one in range(number, number + shown.parts) if one not in left]
            if numbers and len(numbers) < shown.parts:
                effect, data = self._partly(group, shown, [one - number for one in numbers])
                picked.append(effect)
                contents[digest_of(data)] = data
            elif numbers:
                picked += group.effects
            number += shown.parts
        blocked = [one.path for one in self._result.unappliable]
        return with_folders(picked, self._result.effects, blocked), contents

    def _partly(self, group: EffectGroup, shown: ShownEffect, chosen: list[int]) -> tuple[Effect, bytes]:
        assert self._folder is not None
        effect = group.effects[0]
        assert effect.after is not None
        root, upper = FolderReader(self._trials.root), FolderReader(self._folder.upper)
        try:
            data = partly(effect, shown, chosen, root, upper)
        except AssertionError:
            data = b""  # the file has changed, which is found when it is compared
        after = Entry("file", effect.after.mode, digest_of(data), len(data))
        return Effect(effect.path, effect.before, after), data

    # --- applying ---

    @property
    def is_shown(self) -> bool:
        return self._result is not None

    def change(self) -> FileChange | None:
        """For the record, so that it can be undone; None if it changes nothing."""
        if self._folder is None or self._result is None or not self._groups:
            return None
        return FileChange(path=self._trials.root, after=_manifest(self._result), effects=self._folder.name)

    async def apply(self) -> ToolResult:
        assert self._folder is not None and self._result is not None
        folder, result = self._folder, self._result
        if result.changed_meanwhile:
            raise _changed(result.changed_meanwhile)
        trial = await self.shown()
        assert trial is not None
        effects = await _in_thread(self._apply, folder)
        said = _applied_in_words(trial, effects)
        return ToolResult(f"{result.report}\n{said}", TerminalDisplay(f"{result.output}[{said}]\n", _bad(result)))

    def _apply(self, folder: TrialFolder) -> list[Effect]:
        effects, contents = self._chosen()
        if not effects:
            self._trials.store.remove(folder.name)
            return effects
        for sha256, data in contents.items():
            folder.keep_chosen(data, sha256)
        folder.begin_applying(tuple(effects))
        try:
            apply_effects(self._trials.root, effects, _contents(folder, contents), folder.kept)
        except Changed as error:
            raise _changed(error.paths) from error
        except PartlyApplied as error:
            self._forget()  # what it replaced stays, for undo
            raise ToolFailed("apply_failed", _partly_applied(error, effects)) from error
        except OSError as error:
            raise ToolFailed("apply_failed", f"Nothing was applied: {error}.") from error
        folder.end_applying()
        folder.drop_upper()
        self._forget()  # what it replaced stays, for undo
        return effects


async def what_was_applied(trials: Trials, name: str) -> str:
    """After a crash: how far applying a trial came; empty if it had not begun."""
    effects = await asyncio.to_thread(trials.store.folder(name).applied)
    if effects is None:
        return ""
    found = await asyncio.to_thread(progress, trials.root, effects)
    if not found.applied:
        return "None of the effects of its trial were applied."
    if not found.open and not found.other:
        return "All effects of its trial were applied."
    rest = (*found.open, *found.other)
    return (
        f"The effects of its trial were applied only in part. Applied: {_listed(found.applied)}. "
        f"Not applied: {_listed(rest)}. Undo restores what was applied."
    )


def _contents(folder: TrialFolder, chosen: Iterable[str]) -> Callable[[str, Entry], str]:
    parts = frozenset(chosen)

    def content(path: str, entry: Entry) -> str:
        return os.path.join(folder.chosen, entry.sha256) if entry.sha256 in parts else os.path.join(folder.upper, path)

    return content


def _manifest(result: TrialResult) -> str:
    everything = (result.effects, result.unappliable, result.changed_meanwhile)
    return hashlib.sha256(msgspec.json.encode(everything)).hexdigest()


def _meanwhile(found: UpperChanges) -> list[str]:
    touched = {effect.path for effect in found.effects}
    return [path for path in found.changed_meanwhile if path in touched]


def _changed(paths: Iterable[str]) -> ToolFailed:
    return ToolFailed(
        "changed_since_shown",
        f"Nothing was applied, because someone else has changed these since the trial: {_listed(tuple(paths))}.",
    )


def _partly_applied(error: PartlyApplied, effects: list[Effect]) -> str:
    done = tuple(dict.fromkeys(error.done))
    rest = tuple(effect.path for effect in effects if effect.path not in done)
    return (
        f"The effects of the trial were applied only in part: {error}. Applied: {_listed(done)}. "
        f"Not applied: {_listed(rest)}. Undo restores what was applied."
    )


def _applied_in_words(trial: Trial, effects: list[Effect]) -> str:
    tried = "The command ran in a copy of the workspace, without network"
    if not trial.effects:
        return f"{tried}, and changed nothing."
    left = [part for part in shown_parts(trial) if part.number in trial.left_out]
    names = _listed(tuple(_named(part) for part in left))
    without = f" The user left out {len(left)} of {trial.parts} parts of its changes: {names}." if left else ""
    refused = [one for one in trial.effects if not one.parts]
    never = f" Never applied: {_listed(tuple(f'{one.path} ({one.refused})' for one in refused))}." if refused else ""
    what = f"its changes were then applied ({_in_short(trial)})" if effects else "none of its changes were applied"
    return f"{tried}; {what}.{without}{_still_in_git(trial)}{never}"


def _still_in_git(trial: Trial) -> str:
    repository = repository_with_left_out(trial, trial.left_out)
    if not repository:
        return ""
    return f" {repository} was applied as a whole, so what was left out may still be staged or committed in it."


def _in_short(trial: Trial) -> str:
    """Without what was left out completely."""
    applied = {part.effect for part in shown_parts(trial) if part.number not in trial.left_out}
    return in_short(replace(trial, effects=tuple(effect for effect in trial.effects if effect in applied)))


def _named(part: ShownPart) -> str:
    which = f" (part {part.which})" if part.which else ""
    return f"{part.effect.path or 'everything else'} {part.effect.what}{which}"


def _bad(result: TrialResult) -> str:
    return "" if result.ended in ("", "exit 0") else result.ended


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _MAX_NAMED:,} more" if len(paths) > _MAX_NAMED else ""
    return (", ".join(paths[:_MAX_NAMED]) or "nothing") + more


async def _in_thread(work: "Callable[..., T]", *arguments: object) -> "T":
    """Not to be interrupted in the middle."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
        except BaseException:
            break
    if cancelled and not task.cancelled() and task.exception() is None:
        raise asyncio.CancelledError
    return task.result()
