"""The boundary: is a path inside the folders that the user opened, outside, protected, or not a path at all?

The boundary is fixed when the workspace is created and never follows a current folder that a model chose. *Locations*
are judged: links are resolved first. It reads no content and changes nothing; its verdict can be outdated a moment
later, so `files.access` walks again with open folders when it acts.

Decisions:

- Outside beats protected: what is not in the workspace is not edited at all.
- Reading `.git/config` is ordinary; reading where secrets are (`.env`, `.ssh`, keys) is protected, under any name.
- `delete` and `rename` act on a link itself. If its target is outside or protected, the verdict still says so,
  because a person expects to be told.
- A regular file with a second name (hard link) is protected for `write`: the other name may be anywhere.
  Writing with `files.access` would not change the other, but a shell would.
- Deleting or renaming a folder is protected if anything below it is, and always for a workspace folder itself.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

import msgspec

from assent.files.hard_links import SHORT_LOOK, TooManyFiles, has_other_names, secrets_by_links, why_second_name
from assent.files.protected import secret_name, why_contains_protected, why_protected, why_run, why_secret
from assent.files.resolve import Resolved, Unusable, resolve
from assent.files.secret_names import OWN
from assent.files.tool_settings import at_top, why_setting

Operation = Literal["read", "write", "create", "delete", "list", "rename"]
Kind = Literal["inside", "outside", "protected", "reject"]

_SETTLED = 1_000_000_000


class PathVerdict(msgspec.Struct, frozen=True):
    """What a path is, where it really is, and the reason in one sentence."""

    kind: Kind
    path: str
    reason: str
    runs: str = ""
    """For a file to write: why tools would run or obey it."""
    secret: str = ""
    """For a file to read: the part of its path whose name is usual for secrets."""


class Workspace:
    """The folders that the user opened, and the base of relative paths."""

    def __init__(
        self, roots: Sequence[str], cwd: str, *, own_folders: Sequence[str] = (), readable: Sequence[str] = ()
    ) -> None:
        """`own_folders`: where our settings and sessions are, protected wherever that is. `readable`: folders outside
        whose files may be read, and nothing else.

        Raises `Unusable` for a root that is not an absolute path.
        """
        found = {_root(root) for root in roots}
        self.roots = tuple(sorted(root for root in found if not any(_is_below(root, other) for other in found)))
        self._opened = found
        self.cwd = cwd
        self._own_folders = tuple(_root(folder) for folder in own_folders)
        self._own_secrets = {os.path.join(folder, OWN) for folder in self._own_folders}
        self.readable = tuple(_root(folder) for folder in readable)

    def classify(self, path: str, op: Operation) -> PathVerdict:
        """The verdict on a path as someone wrote it."""
        try:
            target = resolve(path, self.cwd)
            if op not in ("delete", "rename"):
                return self._judge(target, target, op)
            return self._judge(target, resolve(path, self.cwd, follow_last=False), op)
        except Unusable as error:
            return PathVerdict("reject", path, str(error))

    def below_root(self, canonical: str) -> tuple[str, tuple[str, ...]] | None:
        """The root that contains a canonical path, and the components below it."""
        return _below_first(self.roots, canonical)

    def below_readable(self, canonical: str) -> tuple[str, tuple[str, ...]] | None:
        """The same for reading: a root, or an outside folder that is open for reading."""
        return _below_first((*self.roots, *self.readable), canonical)

    def _judge(self, target: Resolved, named: Resolved, op: Operation) -> PathVerdict:
        """`target` is where the path leads, `named` the entry that is acted on; they differ for a link."""
        below = self.below_readable if op == "read" else self.below_root
        for place in (named, target):
            if below(place.path) is None:
                return PathVerdict("outside", named.path, f"{place.path} is outside the workspace")
        names = self._all_names(target, named, op)
        reason = self._why_protected(names, named.path, op)
        runs = self._why_run(names, target.path, named.path) if op in ("write", "create") else None
        secret = _first(map(secret_name, names)) if reason and op == "read" else None
        kind = "protected" if reason else "inside"
        return PathVerdict(kind, named.path, reason or "inside the workspace", runs or "", secret or "")

    def _all_names(self, target: Resolved, named: Resolved, op: Operation) -> list[tuple[str, ...]]:
        """The names of the place below a root, in every spelling."""
        places = {*target.spellings, target.path, *named.spellings, named.path}
        below = [names for place in sorted(places) if (names := self._names_below(place))]
        return below if op == "list" else below + names_by_links(links_around(self.roots, named.path), named.path)

    def _why_run(self, names: list[tuple[str, ...]], *paths: str) -> str | None:
        return _first(map(why_run, names)) or _first(map(why_setting, names)) or _first(map(self._why_here, paths))

    def _why_here(self, path: str) -> str | None:
        """Projects below the workspace are known by what is on the disk."""
        root, names = self.below_root(path) or ("", ())
        return why_setting(names, lambda depth: depth == 0 or at_top("/".join((root.rstrip("/"), *names[:depth]))))

    def _why_protected(self, called: list[tuple[str, ...]], path: str, op: Operation) -> str | None:
        match op:
            case "list":
                return None
            case "read":
                return _first(map(why_secret, called)) or self._why_own(path) or why_second_name(path, self.roots)
            case "write" | "create" | "rename" | "delete":
                reason = _first(why_protected(names, may_bring=op != "delete") for names in called)
                return reason or self._why_special_place(path, op)

    def _why_own(self, path: str) -> str | None:
        return f"{path} holds a token of Assent's server" if path in self._own_secrets else None

    def _why_special_place(self, path: str, op: Operation) -> str | None:
        if folder := next((own for own in self._own_folders if path == own or _is_below(path, own)), None):
            return f"{folder} holds Assent's own settings"
        if op == "write" and has_other_names(path):
            return "the file has a second name (hard link), which may be outside the workspace"
        if op in ("delete", "rename"):
            return self._why_moves_too_much(path)
        return self._why_repository(path)

    def _why_repository(self, path: str) -> str | None:
        """git obeys any folder that looks like its own, whatever it is called."""
        folder = path
        for name in reversed(self._names_below(path)):
            folder = os.path.dirname(folder)
            if name in _IN_A_REPOSITORY and all(
                one == name or os.path.lexists(f"{folder}/{one}") for one in _MAKES_ONE
            ):
                return f"{folder} is or would become a repository, whose settings decide what git runs"
        return None

    def _why_moves_too_much(self, path: str) -> str | None:
        if any(root == path or _is_below(root, path) for root in self._opened):
            return "this is the workspace itself, or contains a folder of it"
        if any(_is_below(own, path) for own in self._own_folders):
            return "it contains Assent's own settings"
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        return why_contains_protected(path, self._names_below(path)) if is_folder else None

    def _names_below(self, path: str) -> tuple[str, ...]:
        found = self.below_root(path)
        return found[1] if found else ()


_MAKES_ONE = ("HEAD", "objects", "refs")
_IN_A_REPOSITORY = frozenset((*_MAKES_ONE, "config", "config.worktree", "commondir", "hooks", "info"))


def check_path(request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"roots", "cwd", "path", "op"}` to `{"decision", "reason"}`, for JSON lines."""
    op = request.get("op", "read")
    if op not in get_args(Operation):
        return {
            "decision": "reject",
            "reason": f"op must be one of {', '.join(get_args(Operation))}, not {op!r}",
        }
    try:
        workspace = Workspace(request["roots"], request.get("cwd") or request["roots"][0])
        verdict = workspace.classify(request["path"], op)
    except (Unusable, LookupError, TypeError, AttributeError) as error:
        return {"decision": "reject", "reason": f"not a usable request: {error}"}
    return {"decision": verdict.kind, "reason": verdict.reason}


def _root(path: str) -> str:
    if not path.startswith("/"):
        raise Unusable(f"a workspace folder must be an absolute path, not {path!r}")
    return resolve(path, "/").path


def _is_below(path: str, folder: str) -> bool:
    return path != folder and path.startswith(folder if folder.endswith("/") else folder + "/")


def _below_first(folders: Sequence[str], canonical: str) -> tuple[str, tuple[str, ...]] | None:
    for folder in folders:
        if canonical == folder or _is_below(canonical, folder):
            return folder, tuple(name for name in canonical[len(folder) :].split("/") if name)
    return None


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((reason for reason in reasons if reason), None)


def _resolve_or_none(link: str) -> str | None:
    try:
        return resolve(link, "/").path
    except Unusable:
        return None


def links_at_top(roots: Sequence[str]) -> list[tuple[str, str]]:
    """The names of links at the top of the roots, and where they lead."""
    links = ((os.path.basename(link), _resolve_or_none(link)) for root in roots for link in _links(root))
    return [(name, leads) for name, leads in links if leads is not None]


def links_around(roots: Sequence[str], path: str) -> list[tuple[str, str]]:
    """Links that may give a path other names: those at the top and in the folders on the way to it and, unless the
    workspace is large, all that have the name of a secret.
    """
    root = next((root for root in roots if _is_below(path, root)), "/")
    parts = path[len(root) :].strip("/").split("/")[:-1] if root != "/" else []
    folders = ("/".join((root, *parts[: depth + 1])) for depth in range(len(parts)))
    try:
        secrets = secrets_by_links(roots, SHORT_LOOK)
    except TooManyFiles:
        secrets = {}
    return [*links_at_top((*roots, *folders)), *((os.path.basename(link), leads) for leads, link in secrets.items())]


def names_by_links(links: Sequence[tuple[str, str]], path: str) -> list[tuple[str, ...]]:
    """The names that links give a path: with `.vscode -> config`, `config/x` is `.vscode/x`."""
    leading = ((name, leads) for name, leads in links if path == leads or _is_below(path, leads))
    return [(name, *filter(None, path[len(leads) :].split("/"))) for name, leads in leading]


def _links(folder: str) -> list[str]:
    try:
        changed = os.stat(folder).st_ctime_ns  # not the mtime, which anyone may set back
        # A file system's clock is coarse: what just changed may change again within the same tick.
        settled = time.time_ns() - changed > _SETTLED
        return _links_at(folder, changed) if settled else _scanned(folder)
    except OSError:
        return []  # a root that does not exist contains no links


@lru_cache(1_024)
def _links_at(folder: str, _changed: int) -> list[str]:
    """Cached until the folder changes: every path that is read is compared with them."""
    return _scanned(folder)


def _scanned(folder: str) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.is_symlink()]
