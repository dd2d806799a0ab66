"""What git may read, write and start, enforced by the kernel.

The settings of a repository are checked before git starts, and then git reads them again. Replacing them in between
must gain nothing: git reads the workspace, its repository and the files named by the check, writes only if that is its
job, and starts only itself. Knows how git is installed and what it reads; everything else is passed in.
"""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.git_folder import GitFolder, alternates_of
from assent.plan import paths_in
from assent.process.file_limits import Bounds
from assent.process.landlock import EXECUTE, READ, READ_FILE, WRITE_FILE, Ruleset, available, can_move, write
from assent.subpath import is_below

if TYPE_CHECKING:
    from assent.plan import GitWork

_DEVICES = ("/dev/urandom", "/dev/random", "/sys/devices/system/cpu", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf")
_OF_THE_PERSON = (".config/git/ignore", ".config/git/attributes")
_ON_THE_WAY = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")
# Parts of git that are scripts in some versions, and programs that git's scripts and merge drivers use.
_SCRIPTS = frozenset(("submodule", "bisect"))
_TOOLS = """
    sh basename cat cut dirname env envsubst expr false gettext grep head ls mkdir mv printf rm sed sort tail test touch
    tr true uname wc
"""
_NOT_ELF = "not an executable that can be understood"


class Work(Struct, frozen=True, kw_only=True):
    """One git command: its words from the sub-command on, where it runs, and what the check found."""

    kind: "GitWork"
    words: Sequence[str]
    cwd: str
    roots: Sequence[str]
    repository: GitFolder | None
    files: Sequence[str]
    """Files that contain its settings, or are named by them."""
    environment: Mapping[str, str]
    inside: bool


def bounds_for(work: Work, git: str, program: str) -> Bounds | None:
    """None if nothing is restricted: the kernel cannot, git is installed in an unusual way, or it may do more."""
    changes = work.kind == "changes"
    if not work.kind or not work.roots or not available() or (changes and not can_move()):
        return None
    runs = list(_programs(git, program))
    if _NOT_ELF in runs or os.path.basename(os.path.realpath(git)) != "git":
        return None
    bounds = Bounds(Ruleset(READ | EXECUTE | write()))
    try:
        _fill(bounds, work, git, runs)
    except BaseException:
        bounds.close()
        raise
    return bounds


def _fill(bounds: Bounds, work: Work, git: str, runs: Sequence[str]) -> None:
    changes = work.kind == "changes"
    bounds.allow_system(git)
    bounds.allow(os.devnull, READ_FILE | WRITE_FILE)
    home = work.environment.get("HOME", "/")
    for path in (*_DEVICES, *work.files, *(os.path.join(home, name) for name in _OF_THE_PERSON), *_named(work)):
        bounds.allow(path, READ)
    for path in _places(work):
        bounds.allow(path, READ | (write() if changes else 0))
    for path in _read_on_the_way(work):
        bounds.allow(path, READ)
    scripted = changes or not _SCRIPTS.isdisjoint(work.words[:1])
    for path in (*runs, *(_tools(work.environment) if scripted else ())):
        bounds.allow(path, READ | EXECUTE)
    if changes:
        bounds.make_room(READ | write())


def _places(work: Work) -> Iterator[str]:
    """The workspace, and the repository if it is elsewhere."""
    yield from work.roots
    if (one := work.repository) is None:
        return
    yield from (path for path in map(os.path.realpath, (one.git, one.common)) if not is_below(path, work.roots))
    whole = work.kind == "changes" or work.words[:1] == ["describe"]  # these look at all files, but show none
    if whole and not is_below(one.work, work.roots):
        yield one.work


def _read_on_the_way(work: Work) -> Iterator[str]:
    """Objects elsewhere, and settings of folders above the workspace about files in it."""
    if (one := work.repository) is None:
        return
    if not is_below(os.path.realpath(one.common), work.roots):
        yield from alternates_of(one)
    folder = work.cwd
    while is_below(folder, [one.work]) and folder != os.path.dirname(folder):
        yield from (os.path.join(folder, name) for name in _ON_THE_WAY)
        folder = os.path.dirname(folder)


def _named(work: Work) -> Iterator[str]:
    """Outside files that the words name, if a rule allows that."""
    if work.inside:
        return
    for path in (os.path.normpath(os.path.join(work.cwd, text)) for word in work.words for text in paths_in(word)):
        if not is_below(path, work.roots) and path != "/":
            yield path


def _programs(git: str, program: str) -> Iterator[str]:
    """Git, its parts, whatever starts it, and what the system needs to load them."""
    for path in {git, program}:
        yield path
        yield from _loader(path)
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(git)))
    parts = [os.path.join(prefix, folder, "git-core") for folder in ("lib", "libexec")]
    yield from parts if any(map(os.path.isdir, parts)) else [_asked_for_parts(git)]


def _asked_for_parts(git: str) -> str:
    found = subprocess.run([git, "--exec-path"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return os.fsdecode(found.stdout).strip() or git


def _tools(environment: Mapping[str, str]) -> Iterator[str]:
    for name in _TOOLS.split():
        if (path := shutil.which(name, path=environment.get("PATH", os.defpath))) is not None:
            yield path
            yield from (one for one in _loader(path) if one != _NOT_ELF)


def _loader(path: str) -> Iterator[str]:
    """The program interpreter (PT_INTERP) that loads it with its libraries, if any."""
    with open(path, "rb") as file:
        head = file.read(4096)
        if head[:4] != b"\x7fELF":
            yield _NOT_ELF
            return
        wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
        (table,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", head, 32 if wide else 28)
        size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
        for at in range(table, min(table + size * count, len(head) - size + 1), size):
            if struct.unpack_from(f"{order}I", head, at)[0] == 3:
                where = f"{order}Q16xQ" if wide else f"{order}I8xI"
                begin, length = struct.unpack_from(where, head, at + (8 if wide else 4))
                file.seek(begin)
                yield os.fsdecode(file.read(length).rstrip(b"\0"))
