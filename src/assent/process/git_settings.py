"""What a repository's configuration makes git run, and the settings that override it.

Git runs many of its settings as commands. The repository chooses their names (`filter.x.clean`), so they are only known
there. Each is replaced by something harmless that comes as close as possible: the plain merge, the usual program on the
other side. Knows git's settings; starts nothing.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from assent.subpath import is_below

_MERGE = "git merge-file --marker-size=%L %A %O %B"
# Settings with a variable middle part, and what they are set to.
_NAMED = {
    ("filter", "clean"): "",
    ("filter", "smudge"): "",
    ("filter", "process"): "",
    ("diff", "textconv"): "cat",
    ("diff", "command"): "true",
    ("merge", "driver"): _MERGE,
    ("gpg", "program"): "false",
    ("gpg", "defaultkeycommand"): "false",
    ("trailer", "command"): "true",
    ("trailer", "cmd"): "true",
    ("hook", "command"): "true",
    ("submodule", "update"): "none",
    ("tar", "command"): "false",
    ("http", "savecookies"): "false",
}
_TOOLS = frozenset(("difftool", "mergetool", "guitool", "man", "browser"))
_PATHS = {
    "core.attributesfile": "/dev/null",
    "core.excludesfile": "/dev/null",
    "mailmap.file": "/dev/null",
    "commit.template": "",
    "diff.orderfile": "/dev/null",
    "fsck.skiplist": "/dev/null",
    "http.cookiefile": "",
}
_NAMING_FILES = frozenset((*_PATHS, "blame.ignorerevsfile", "init.templatedir", "gpg.ssh.allowedsignersfile"))
# A file of such a name holds no secret that an error about its first line could show.
_PLAIN_FILE = re.compile(r"[\w.-]*(?:ignore|revs|mailmap|attributes|template|message|order)[\w.-]*", re.IGNORECASE)
_PLAIN_HELPER = re.compile(r"[a-z][a-z0-9-]*")
_OF_THE_REPOSITORY = frozenset(("local", "worktree"))
_ELSEWHERE = re.compile(r"(?!file:)(?:[A-Za-z][A-Za-z0-9+.-]*://|[^/]+:)")
# For these git uses the first value it finds, so they cannot be overridden.
_CONNECTING = frozenset((("remote", "vcs"), ("remote", "uploadpack"), ("remote", "receivepack")))
_ADDRESSES = frozenset((("remote", "url"), ("remote", "pushurl"), ("branch", "remote"), ("branch", "pushremote")))


class Setting(Struct, frozen=True):
    scope: str
    key: str
    value: str
    origin: str = ""
    """Where it is set: `file:…`, relative to git's folder."""

    @property
    def names(self) -> tuple[str, str]:
        """The section and the name, without the part between them."""
        return self.key.partition(".")[0], self.key.rpartition(".")[2]

    @property
    def between(self) -> str:
        return self.key.partition(".")[2].rpartition(".")[0]

    @property
    def is_own(self) -> bool:
        """Whether it comes from the repository rather than from the person."""
        return self.scope in _OF_THE_REPOSITORY


def parsed(listing: bytes) -> list[Setting]:
    """Parses the output of `git config --null --list --show-scope --show-origin`."""
    parts = os.fsdecode(listing).split("\0")
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    return [Setting(scope, *_halves(text), origin) for scope, origin, text in found]


def _halves(text: str) -> tuple[str, str]:
    key, _, value = text.partition("\n")
    return key, value


def files_of(settings: Iterable[Setting], cwd: str, home: str) -> set[str]:
    """The files that contain the settings, and those that the person's settings name."""
    origins = {one.origin.removeprefix("file:") for one in settings if one.origin.startswith("file:")}
    named = {one.value for one in settings if not one.is_own and one.key in _NAMING_FILES and one.value}
    return {os.path.join(cwd, home + path[1:] if path.startswith("~/") else path) for path in origins | named}


def overrides(settings: Sequence[Setting], roots: Sequence[str], places: Sequence[str]) -> list[tuple[str, str]]:
    """Settings that override the repository's, so that none runs a program or reads outside the workspace."""
    found: dict[str, str] = {}
    for one in settings:
        section, name = one.names
        if section in ("alias", "pager"):
            found[one.key] = "version" if section == "alias" else "false"
        elif one.between and section in _TOOLS and name in ("cmd", "path"):
            found[one.key] = "true"
        elif one.between and (value := _NAMED.get((section, name))) is not None:
            found[one.key] = value
        elif one.is_own and f"{section}.{name}" in _PATHS and not _plain_inside(one.value, roots, places):
            found[one.key] = _PATHS[f"{section}.{name}"]
        if section == "submodule" and one.between:
            found[f"submodule.{one.between}.ignore"] = "dirty"
        if section == "filter":
            found[f"filter.{one.between}.required"] = "false"
    return list(found.items())


def helpers(settings: Sequence[Setting]) -> list[tuple[str, str]]:
    """The credential helpers: the person's own, and the repository's only by plain name."""
    known = [one for one in settings if one.names == ("credential", "helper")]
    if not any(one.is_own for one in known):
        return []
    kept = [(one.key, one.value) for one in known if not one.is_own or _PLAIN_HELPER.fullmatch(one.value)]
    return [("credential.helper", ""), *kept]


def ignores_by(settings: Iterable[Setting], roots: Sequence[str], places: Sequence[str]) -> str | None:
    """A file of commits for blame to skip, whose first line appears in its error message."""
    named = (one for one in settings if one.is_own and one.key == "blame.ignorerevsfile")
    return next((one.key for one in named if not _plain_inside(one.value, roots, places)), None)


def included_from_outside(settings: Iterable[Setting], roots: Sequence[str], places: Sequence[str]) -> str | None:
    """A repository setting that includes another file as settings, which `git config` would then show."""
    including = (one for one in settings if one.is_own and one.names in (("include", "path"), ("includeif", "path")))
    return next((one.key for one in including if not _all_inside(one.value, roots, places)), None)


def dangerous_connection(settings: Sequence[Setting], roots: Sequence[str], places: Sequence[str]) -> str | None:
    """A repository setting that makes git start a program, or serve a repository of the workspace, in order to connect.

    The other side of a connection to a folder runs here, with its own hooks and settings.
    """
    promising = (("remote", "promisor"), ("extensions", "partialclone"))
    partial = any(one.is_own and one.names in promising for one in settings)
    known = remotes(settings)
    for one in settings:
        if one.is_own and (one.names in _CONNECTING or one.key == "core.gitproxy"):
            return one.key
        if any(_is_served_here(text, roots, places, partial=partial) for text in _addresses(one, known)):
            return one.key
    return None


def forced_push(settings: Iterable[Setting]) -> str | None:
    """A repository setting that makes a plain `git push` force or delete branches."""
    for one in settings:
        forces = one.names == ("remote", "push") and one.value.startswith(("+", ":"))
        mirrors = one.names == ("remote", "mirror") and one.value.lower() not in ("false", "no", "off", "0")
        if one.is_own and (forces or mirrors):
            return one.key
    return None


def remotes(settings: Iterable[Setting]) -> set[str]:
    """The names that stand for an address."""
    return {one.between for one in settings if one.names == ("remote", "url")}


def _addresses(one: Setting, known: set[str]) -> Iterator[str]:
    if (one.names in _ADDRESSES or one.key == "remote.pushdefault") and one.value not in known:
        yield one.value
    elif one.names in (("url", "insteadof"), ("url", "pushinsteadof")):
        yield one.between


def _is_served_here(address: str, roots: Sequence[str], places: Sequence[str], *, partial: bool) -> bool:
    if address == ".":  # a branch that tracks another; its own objects, unless some are fetched first
        return partial
    if _ELSEWHERE.match(address) or not address:
        return False
    path = os.path.expanduser(_decoded(address))
    found = [os.path.realpath(os.path.join(place, path + end)) for place in places for end in ("", ".git")]
    return any(os.path.exists(one) and is_below(one, roots) for one in found)


def _decoded(address: str) -> str:
    if not address.startswith("file://"):
        return address
    from urllib.parse import unquote  # only such addresses need it

    return unquote(address.removeprefix("file://"))


def _plain_inside(path: str, roots: Sequence[str], places: Sequence[str]) -> bool:
    return _PLAIN_FILE.fullmatch(os.path.basename(path)) is not None and _all_inside(path, roots, places)


def _all_inside(path: str, roots: Sequence[str], places: Sequence[str]) -> bool:
    """From any place where git may find it."""
    found = (os.path.realpath(os.path.join(place, os.path.expanduser(path))) for place in places)
    return all(is_below(one, roots) for one in found)
