"""Effects as a person decides on them: each file on its own, and together what only makes sense together.

A repository belongs together (index, branches and objects must fit), and so does a file that became a folder. Protected
files and secrets are never applied. Folders have no part of their own: they come with the first file in them and go
with the last. Pure: it decides by names and kinds.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from assent.files.entries import Effect
from assent.files.protected import fold, why_protected, why_secret

MAX_GROUPS = 300
"""Effects that are listed one by one."""
_GIT_RUNS = ("hooks", "config", "config.worktree", "commondir", "info/attributes", "objects/info/alternates")
"""What of a repository decides which programs run, or where it is."""


class EffectGroup(Struct, frozen=True):
    path: str
    effects: tuple[Effect, ...]
    refused: str = ""
    """Why it is never applied."""

    @property
    def single(self) -> Effect | None:
        """The effect, if it concerns one file that stays a file."""
        effect = self.effects[0]
        kinds = {one.kind for one in (effect.before, effect.after) if one is not None}
        return effect if len(self.effects) == 1 and kinds == {"file"} else None


def groups_of(effects: Sequence[Effect]) -> list[EffectGroup]:
    effects = sorted(effects, key=lambda one: one.path.split("/"))
    found = [_group(path, members) for path, members in _members(effects)]
    return found if len(found) <= MAX_GROUPS else _in_few(found, effects)


def _members(effects: Sequence[Effect]) -> Iterator[tuple[str, list[Effect]]]:
    together: dict[str, list[Effect]] = {}
    owner = ""
    parents = _parents(effects)
    for effect in effects:
        if repository := _repository(effect.path):
            together.setdefault(repository, []).append(effect)
        elif owner and effect.path.startswith(f"{owner}/"):
            together[owner].append(effect)
        elif _comes_with_files(effect) and effect.path in parents:
            continue
        else:
            owner = effect.path if _changes_kind(effect) else ""
            together.setdefault(effect.path, []).append(effect)
    yield from together.items()


def _parents(effects: Iterable[Effect]) -> set[str]:
    """All folders in which something changes."""
    found: set[str] = set()
    for effect in effects:
        path = effect.path
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


def _comes_with_files(effect: Effect) -> bool:
    return "folder" in (_kind(effect.before), _kind(effect.after)) and None in (effect.before, effect.after)


def _changes_kind(effect: Effect) -> bool:
    kinds = (_kind(effect.before), _kind(effect.after))
    return "" not in kinds and "folder" in kinds and kinds[0] != kinds[1]


def _kind(entry: object) -> str:
    return getattr(entry, "kind", "")


def _repository(path: str) -> str:
    """The `.git` that the path is in, or is; empty if there is none."""
    names = path.split("/")
    at = next((place for place, name in enumerate(names) if fold(name) == ".git"), None)
    return "" if at is None else "/".join(names[: at + 1])


def _group(path: str, effects: list[Effect]) -> EffectGroup:
    why = _why_not_git(path, effects) if _repository(path) else _first_reason(effects)
    return EffectGroup(path, tuple(effects), why)


def _first_reason(effects: list[Effect]) -> str:
    reasons = (_why_not(effect) for effect in effects)
    return next((reason for reason in reasons if reason), "")


def _why_not(effect: Effect) -> str:
    names = effect.path.split("/")
    return why_protected(names, may_bring=effect.after is not None) or why_secret(names) or ""


def _why_not_git(path: str, effects: list[Effect]) -> str:
    for effect in effects:
        inside = effect.path[len(path) + 1 :]
        names = inside.split("/")
        runs = any(inside == one or inside.startswith(f"{one}/") for one in _GIT_RUNS)
        nested = names[0] in ("modules", "worktrees") and ("config" in names or "hooks" in names)
        if not inside or runs or nested or names[-1] == "config.worktree":
            return f"{inside or path} decides which programs git runs, or where the repository is"
    return ""


def _in_few(found: list[EffectGroup], effects: Sequence[Effect]) -> list[EffectGroup]:
    """New and deleted folders as a whole, and then the rest as one."""
    whole = {effect.path for effect in effects if _comes_with_files(effect)}
    tops = {path for path in whole if not any(above in whole for above in _above(path))}
    kept: list[EffectGroup] = []
    folders: dict[str, list[Effect]] = {}
    for group in found:
        top = next((path for path in (group.path, *_above(group.path)) if path in tops), "")
        if top and not group.refused and not _repository(group.path):
            folders.setdefault(top, []).extend(group.effects)
        else:
            kept.append(group)
    kept += [EffectGroup(path, tuple(members)) for path, members in folders.items()]
    kept.sort(key=lambda one: (bool(one.refused), one.path.split("/")))
    first, rest = kept[: MAX_GROUPS - 1], kept[MAX_GROUPS - 1 :]
    return [*first, *_rest(rest)]


def _rest(groups: list[EffectGroup]) -> Iterator[EffectGroup]:
    for refused in sorted({group.refused for group in groups}):
        members = tuple(effect for group in groups if group.refused == refused for effect in group.effects)
        yield EffectGroup("", members, refused)


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def with_folders(chosen: Iterable[Effect], all_effects: Sequence[Effect], blocked: Iterable[str]) -> list[Effect]:
    """The chosen effects with the folders that come and go with them. `blocked`: places that stay."""
    picked = {effect.path: effect for effect in chosen}
    new_parents = _parents(picked.values())
    staying = _parents(one for one in all_effects if one.path not in picked and not _comes_with_files(one))
    staying |= {above for path in blocked for above in _above(path)}
    folders = (one for one in all_effects if one.path in new_parents and _comes_with_files(one))
    picked |= {one.path: one for one in folders if one.before is None or one.path not in staying}
    return [picked[path] for path in sorted(picked)]
