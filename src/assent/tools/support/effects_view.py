"""Effects as they are shown: a diff for text, and an honest summary for what has none, within a limit.

It reads the old content from the workspace and the new one from where the trial left it, both below open folders and
without following links. What it cannot show it counts; nothing is left out silently.
"""

import os
from collections.abc import Callable, Sequence

from msgspec import Struct

from assent.files.entries import Effect, Entry, opened
from assent.files.openat import digest_of
from assent.files.protected import why_run
from assent.hunks import accept, hunks
from assent.subpath import is_below
from assent.tools.support.diff import diff
from assent.tools.support.effect_groups import EffectGroup
from assent.trial import ShownEffect, What

_MAX_TEXT = 1_000_000
"""Bytes of a file that is compared line by line."""
_MAX_DIFF = 60_000
_MAX_ALL_DIFFS = 300_000
_MAX_NOTED = 20
"""Characters of one diff, and of all together."""

Reader = Callable[[str, Entry], bytes | None]
"""The content of a file as it was or will be; None if it is gone or too large."""


class Room:
    """How much may still be shown."""

    def __init__(self) -> None:
        self.left = _MAX_ALL_DIFFS

    def take(self, text: str) -> bool:
        if len(text) > min(self.left, _MAX_DIFF):
            return False
        self.left -= len(text)
        return True


class EffectViewer:
    def __init__(self, root: str, old: Reader, new: Reader, notes: dict[str, list[str]]) -> None:
        self._root = root
        self._old, self._new = old, new
        self._notes = notes
        self._room = Room()

    def show(self, groups: Sequence[EffectGroup]) -> tuple[ShownEffect, ...]:
        return tuple(self._shown(group) for group in groups)

    def _shown(self, group: EffectGroup) -> ShownEffect:
        effect = group.single
        notes = tuple(note for one in group.effects[:_MAX_NOTED] for note in self._noted(one))
        if effect is None or group.refused:
            return ShownEffect(
                path=group.path,
                what=_what(group.effects),
                summary=_summary(group),
                parts=0 if group.refused else 1,
                files=_count(group.effects),
                notes=notes,
                refused=group.refused,
            )
        runs = why_run(effect.path.split("/")) if effect.after is not None else None
        return self._file(effect, (*notes, runs) if runs else notes)

    def _noted(self, effect: Effect) -> list[str]:
        target = effect.after.target if effect.after is not None else ""
        leads = os.path.normpath(os.path.join(self._root, os.path.dirname(effect.path), target))
        outside = bool(target) and not is_below(leads, [self._root])
        return [*self._notes.get(effect.path, ()), *(["it leads out of the workspace"] if outside else [])]

    def _file(self, effect: Effect, notes: tuple[str, ...]) -> ShownEffect:
        text, parts, words = self._compared(effect)
        said = ", ".join(filter(None, (words, _modes(effect))))
        return ShownEffect(path=effect.path, what=_what([effect]), summary=said, diff=text, parts=parts, notes=notes)

    def _compared(self, effect: Effect) -> tuple[str, int, str]:
        """The diff, into how many parts it can be divided, and what to say beside it."""
        if effect.before is not None and effect.after is not None and effect.before.sha256 == effect.after.sha256:
            return "", 1, ""
        old, new = _text(self._old, effect.path, effect.before), _text(self._new, effect.path, effect.after)
        if old is None or new is None:
            return "", 1, f"not text, or long: {_sizes(effect)}"
        found = diff(effect.path, None if effect.before is None else old, new)
        if not found.text:
            return "", 1, "only line endings differ" if old != new else "empty"
        if not self._room.take(found.text):
            return "", 1, f"+{found.added:,} -{found.removed:,} lines, too long to show: {_sizes(effect)}"
        divisible = effect.before is not None and effect.after is not None and "\r" not in old + new
        return found.text, len(hunks(found.text)) if divisible else 1, ""


def _text(read: Reader, path: str, entry: Entry | None) -> str | None:
    """Empty if nothing is there; None if it is not text."""
    if entry is None:
        return ""
    data = read(path, entry) if entry.size <= _MAX_TEXT else None
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def partly(effect: Effect, shown: ShownEffect, chosen: Sequence[int], old: Reader, new: Reader) -> bytes:
    """The content of the file with only these hunks."""
    before, after = _text(old, effect.path, effect.before), _text(new, effect.path, effect.after)
    assert before is not None and after is not None, "otherwise it has one part"
    return accept(before, after, shown.diff, chosen).encode()


class FolderReader:
    """Reads files below a folder, if they have the expected content."""

    def __init__(self, root: str) -> None:
        self._root = root

    def __call__(self, path: str, entry: Entry) -> bytes | None:
        try:
            with opened(self._root) as folders:
                fd = os.open(os.path.basename(path), os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folders.of(path))
                with os.fdopen(fd, "rb") as file:
                    data = file.read(_MAX_TEXT + 1)
        except OSError:
            return None
        return data if digest_of(data) == entry.sha256 else None


# --- words ---


class _Count(Struct):
    files: int = 0
    bytes: int = 0


def _what(effects: Sequence[Effect]) -> What:
    befores = {effect.before is None for effect in effects}
    afters = {effect.after is None for effect in effects}
    if befores == {True}:
        return "added"
    return "deleted" if afters == {True} else "changed"


def _count(effects: Sequence[Effect]) -> int:
    """Folders count only if there is nothing else."""
    files = [one for one in effects if any(e is not None and e.kind != "folder" for e in (one.before, one.after))]
    return len(files) or len(effects)


def _summary(group: EffectGroup) -> str:
    effect = group.effects[0]
    if len(group.effects) > 1 or not group.path:
        return _counted(group)
    match effect.before, effect.after:
        case Entry(kind="folder"), Entry(kind="folder"):
            return f"folder, {_modes(effect)}"
        case Entry(kind=kind), Entry(kind=other) if kind != other:
            return f"a {kind} becomes {_named(effect.after)}"
        case None, Entry() as entry:
            return f"empty {entry.kind}" if entry.kind == "folder" else _named(entry)
        case Entry() as entry, _:
            return f"{_named(entry)} → {effect.after.target}" if effect.after is not None else _named(entry)
        case _:
            return ""


def _named(entry: Entry | None) -> str:
    match entry:
        case Entry(kind="link", target=target):
            return f"a link to {target}"
        case Entry(kind="file", size=size):
            return f"a file of {_bytes(size)}"
        case Entry(kind=kind):
            return f"a {kind}"
        case None:
            return "nothing"


def _counted(group: EffectGroup) -> str:
    counts: dict[What, _Count] = {"added": _Count(), "changed": _Count(), "deleted": _Count()}
    for effect in group.effects:
        entry = effect.after or effect.before
        if entry is not None and entry.kind != "folder":
            count = counts[_what([effect])]
            count.files += 1
            count.bytes += entry.size
    said = [f"{one.files:,} {what} ({_bytes(one.bytes)})" for what, one in counts.items() if one.files]
    names = "" if group.path else f": {', '.join(effect.path for effect in group.effects[:3])}, …"
    return f"{', '.join(said) or 'folders only'}{names}"


def _sizes(effect: Effect) -> str:
    sizes = [_bytes(one.size) for one in (effect.before, effect.after) if one is not None]
    return " → ".join(sizes)


def _modes(effect: Effect) -> str:
    if effect.before is None or effect.after is None:
        executable = effect.after is not None and effect.after.kind == "file" and effect.after.mode & 0o111
        return "executable" if executable else ""
    if effect.before.mode == effect.after.mode:
        return ""
    return f"mode {effect.before.mode:o} → {effect.after.mode:o}"


def _bytes(size: int) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size //= 1000
    return f"{size:,} GB"
