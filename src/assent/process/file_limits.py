"""Which files a program of a plan may open: those that its words name, as they are right now.

A name can be replaced by a link between the check and the opening. So each operand is held by a descriptor, the
descriptor is judged (where it really is, whether it is a secret, a pipe or a device), and the kernel is told to let the
program read exactly these files, the folders it walks through, and the system's own. If the kernel cannot do that, the
program gets the files as open descriptors. Knows programs by name; the plan says what is inside and what is secret.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING

from assent.plan import is_public, paths_in
from assent.process.landlock import READ, READ_FILE, READ_FOLDER, Ruleset, available
from assent.subpath import is_below

if TYPE_CHECKING:
    from assent.plan import Plan

# They show the content of the files that they are given.
_SHOWS = frozenset(
    (
        *("cat", "head", "tail", "wc", "nl", "tac", "cut", "sort", "uniq", "comm", "diff", "cmp", "file", "grep"),
        *("egrep", "fgrep", "rgrep", "rg", "sed", "rev", "fold", "column", "jq", "paste", "join", "od", "xxd"),
        *("hexdump", "strings", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"),
        *("cksum", "sum", "base64", "fmt", "pr", "expand", "unexpand", "awk", "gawk", "mawk", "tr", "xargs"),
    )
)
# They open files that they find in folders; grep only if told to.
_WALKS = frozenset(("grep", "egrep", "fgrep", "rgrep", "rg", "diff", "find", "xargs"))
_GREPS = frozenset(("grep", "egrep", "fgrep", "rgrep"))
_RECURSIVE = re.compile(r"-[A-Za-z]*[rRd]|--(?:recursive|dereference-recursive|directories)")
_LISTS = frozenset(("ls", "find", "tree", "du", "stat", "realpath", "readlink"))
_IN_PLACE = re.compile(r"-[A-Za-z]*i.*|--in-?place.*|--include=inplace.*|inplace")
_SUMS = frozenset(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum"))
_CHECKS = re.compile(r"-[a-z]*c|--check")  # the files come from a list
_STARTS = frozenset(("timeout", "nice", "stdbuf", "env", "command", "nohup", "time", "xargs"))
# Options, their values (a time, a signal, a marker, a buffer size) and variables.
_NOT_THE_PROGRAM = re.compile(r"-.*|\d[\d.]*[smhd]?|[A-Z]+\d*|\w+=.*|\{\}|%", re.DOTALL)
_OWN_INPUT = frozenset(("-", "/dev/null", "/dev/stdin", "/dev/fd/0"))
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld-musl-x86_64.path", "/etc/locale.alias", "/etc/localtime"),
    *("/etc/magic", "/etc/magic.mime", "/etc/terminfo", "/etc/alternatives", "/dev/null", "/proc/filesystems"),
)
# The owner of a file; programs that show content do not need it.
_NAMES_OF_USERS = ("/etc/passwd", "/etc/group", "/etc/nsswitch.conf")
_NEEDS_ROOM = frozenset(("sort", "tac", "xargs", "find"))
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Refusal(Exception):
    """Why the command does not start; the text says which word, and why."""


class Openings:
    """What the words of one plan may lead to."""

    def __init__(self, plan: "Plan") -> None:
        self._inside = plan.inside
        self._roots = [os.path.normpath(root) for root in plan.roots]
        self._real_roots = [os.path.realpath(root) for root in plan.roots]
        self._secret = plan.secret

    def may_read(self, path: str, descriptor: int, *, content: bool = True) -> bool:
        """Whether the file open under this path may be read: a link that leads outside, or to a secret, makes its name
        differ from its location. Without `content` only names are shown.
        """
        real = _place_of(descriptor)
        if real is None:
            return False
        leads_out = not is_below(real, self._real_roots) and not (is_public(real) and is_public(os.path.normpath(path)))
        if leads_out and (self._inside or is_below(os.path.normpath(path), self._roots)):
            return False
        return not (content and self.is_secret(real))

    def is_secret(self, real: str) -> bool:
        return bool(self._secret) and _compiled(self._secret).search(real.casefold()) is not None

    def input(self, path: str) -> int:
        """An input file for a program. Raises OSError or Refusal."""
        descriptor = os.open(path, _FILE)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refusal(f"{path}: not a regular file")
            if not self.may_read(path, descriptor):
                raise Refusal(f"{path}: leads out of the workspace, or to a secret")
        except Refusal:
            os.close(descriptor)
            raise
        return descriptor

    def handed(self, path: str) -> int | None:
        """A regular file to pass as an open descriptor; None if it is not a file. Raises Refusal."""
        if not os.path.isfile(path):
            return None
        try:
            return self.input(path)
        except OSError:
            return None  # the program reports the error itself

    def bound(self, program: str, argv: Sequence[str], cwd: str, *, fed: bool) -> "Bounds | None":
        """What restricts the program to its files; None if it is not restricted. Raises Refusal."""
        names = _programs(argv)
        if not names & (_SHOWS | _LISTS) or self._may_lie_anywhere(names, argv):
            return None
        bounds = Bounds(Ruleset() if available() else None)
        try:
            self._fill(bounds, names, program, argv, cwd, fed=fed)
        except BaseException:
            bounds.close()
            raise
        return bounds

    def _may_lie_anywhere(self, names: set[str], argv: Sequence[str]) -> bool:
        """One of the user's rules allows more than reading inside the workspace: access outside it, at places that are
        not known yet, or editing in place, which reads files that do not exist yet.
        """
        if self._inside:
            return False
        return "xargs" in names or any(word.startswith("/proc/self") for word in argv) or _edits_in_place(names, argv)

    def _fill(
        self, bounds: "Bounds", names: set[str], program: str, argv: Sequence[str], cwd: str, *, fed: bool
    ) -> None:
        shows, walks = bool(names & _SHOWS), _walks(names, argv)
        bounds.allow_system(program)
        for path in () if shows else _NAMES_OF_USERS:
            bounds.allow(path, READ)
        for path in [cwd, *(self._roots if fed else [])]:
            self._operand(bounds, path, path, shows=shows, walks=walks)
        for word in argv[1:]:
            for text in paths_in(word):
                if text not in _OWN_INPUT:
                    self._operand(bounds, text, os.path.join(cwd, text), shows=shows, walks=walks)
        if names & _NEEDS_ROOM:
            bounds.make_room()
        if "rg" in names:
            for path in self._ignore_files():
                bounds.allow(path, READ_FILE)

    def _operand(self, bounds: "Bounds", text: str, path: str, *, shows: bool, walks: bool) -> None:
        try:
            descriptor = os.open(path, _PATH_ONLY)
        except (OSError, ValueError):
            return  # not a file, or one that the program cannot open either
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                if shows:
                    raise Refusal(f"{text}: not a regular file; reading it may block forever")
                return
            if self.may_read(path, descriptor, content=shows):
                rights = READ_FILE if stat.S_ISREG(mode) else READ if walks else READ_FOLDER
                bounds.hold(path, descriptor, rights)
        finally:
            os.close(descriptor)

    def _ignore_files(self) -> Iterator[str]:
        """Those above the workspace count as well."""
        for root in self._real_roots:
            above = os.path.dirname(root)
            while above != os.path.dirname(above):
                yield from (os.path.join(above, name) for name in _IGNORE_FILES)
                above = os.path.dirname(above)
        yield os.path.join(os.environ.get("HOME") or "/", ".config/git/ignore")

    def without_special_files(self, argv: Sequence[str], found: Sequence[str], cwd: str) -> list[str]:
        """The matches of a wildcard, without pipes and devices that would block a program."""
        if not _programs(argv) & _SHOWS:
            return list(found)
        return [text for text in found if not _is_special(os.path.join(cwd, text))]


class Bounds:
    """The files that one program may open."""

    def __init__(self, ruleset: Ruleset | None) -> None:
        self._ruleset = ruleset
        self.room = ""
        """A folder for its own files, which it may read again."""
        self._held: list[tuple[str, tuple[int, int]]] = []

    @property
    def kept(self) -> bool:
        """Whether the kernel enforces them."""
        return self._ruleset is not None

    def allow_system(self, program: str) -> None:
        """What every program reads: its libraries, and the system's data on locales and time zones."""
        for path in (*_SYSTEM, *_around(program)):
            self.allow(path, READ)

    def allow(self, path: str, rights: int) -> None:
        """A system path, if it exists."""
        try:
            descriptor = os.open(path, _PATH_ONLY)
        except OSError:
            return
        try:
            self._add(descriptor, rights)
        finally:
            os.close(descriptor)

    def hold(self, path: str, descriptor: int, rights: int) -> None:
        self._add(descriptor, rights)
        self._held.append((path, _identity(os.fstat(descriptor))))

    def _add(self, descriptor: int, rights: int) -> None:
        if self._ruleset is not None:
            self._ruleset.allow(descriptor, rights)

    def make_room(self, rights: int = READ) -> None:
        import tempfile

        self.room = tempfile.mkdtemp(prefix="assent-")
        self.allow(self.room, rights)

    def restrict_thread(self) -> None:
        if self._ruleset is not None:
            self._ruleset.restrict_thread()

    def replaced(self) -> list[str]:
        """Paths that now lead to a different file than when the command was started."""
        return [path for path, identity in self._held if _identity_at(path) not in (identity, None)]

    def close(self) -> None:
        if self._ruleset is not None:
            self._ruleset.close()
            self._ruleset = None
        if self.room:
            import shutil

            shutil.rmtree(self.room, ignore_errors=True)


def _edits_in_place(names: set[str], argv: Sequence[str]) -> bool:
    return bool(names & {"sed", "awk", "gawk"}) and any(_IN_PLACE.fullmatch(word) for word in argv)


def _programs(argv: Sequence[str]) -> set[str]:
    """The program, and those after it if it only starts another."""
    name = os.path.basename(argv[0])
    if name == "find":
        return {name, *(os.path.basename(word) for before, word in pairwise(argv) if before.startswith("-exec"))}
    if name not in _STARTS:
        return {name}
    rest = dropwhile(_NOT_THE_PROGRAM.fullmatch, argv[1:])
    return {name} | _programs(behind) if (behind := list(rest)) else {name}


def _walks(names: set[str], argv: Sequence[str]) -> bool:
    if names & _SUMS and any(map(_CHECKS.match, argv[1:])):
        return True
    if names & _GREPS and not names & (_WALKS - _GREPS):
        return "rgrep" in names or any(map(_RECURSIVE.match, argv[1:]))
    return bool(names & _WALKS)


def _around(program: str) -> Iterator[str]:
    """The location of a program and its libraries, if it is not a system one."""
    folder = os.path.dirname(os.path.realpath(program))
    yield folder
    if os.path.basename(folder) == "bin":
        yield os.path.join(os.path.dirname(folder), "lib")


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _place_of(descriptor: int) -> str | None:
    """Where an open file is; None if it is nowhere any longer, or unknown."""
    if not os.fstat(descriptor).st_nlink:
        return None
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return _place_on_darwin(descriptor)


def _place_on_darwin(descriptor: int) -> str | None:
    import fcntl

    get_path = getattr(fcntl, "F_GETPATH", None)
    if get_path is None:
        return None
    return os.fsdecode(fcntl.fcntl(descriptor, get_path, bytes(1024)).rstrip(b"\0"))


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _identity_at(path: str) -> tuple[int, int] | None:
    try:
        return _identity(os.stat(path))
    except OSError:
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def real_below(path: str, roots: Sequence[str]) -> bool:
    """Whether a path is in one of the roots, with links followed."""
    return is_below(os.path.realpath(path), [os.path.realpath(root) for root in roots])
