"""Holds a sandbox back until what it mounted is what was planned, and then lets its command start.

A sandbox gets paths, and resolves them some milliseconds after they were checked. In that time, another command may
replace a folder of the workspace with a link, and the mount would make another place writable. So folders that can be
replaced are opened here, without following links, and mounted from their descriptors, if the launcher can do that.
Where it mounts them is still a path. So the finished mounts are compared with the plan, too: the kernel lists them with
the real place that each of them shows. Like the reaper that uses it, it imports next to nothing.
"""

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from assent.process.launcher_report import LauncherReport

WAITS = 98
"""The descriptor on which a launcher waits until it may start its program."""
FOLDERS = 400
"""The first descriptor of a folder that can be replaced."""
BASE, INNER, OPENED, CLOSED = b"base", b"inner", b"opened", b"closed"
"""What is planned for a path: writable, and nobody inside can move it; writable, and part of what is around it, by its
path or by its descriptor; not writable."""
_MOUNT_SECONDS = 30.0
_PAUSE = 0.0005
_NO_RIGHTS = b"CapEff:\t0000000000000000\n"
"""A launcher gives up its rights when it has mounted everything."""
_DEVICES = (b"devtmpfs", b"devpts")
_SPECIAL = {b"\\": b"\\134", b" ": b"\\040", b"\t": b"\\011", b"\n": b"\\012"}


def plan(
    base: "Iterable[str]", inner: "Iterable[str]", closed: "Iterable[str]", *, by_descriptor: bool = False
) -> bytes:
    """As `problem` reads it; paths as the kernel writes them."""
    part = OPENED if by_descriptor else INNER
    lines = [(BASE, one) for one in base] + [(part, one) for one in inner] + [(CLOSED, one) for one in closed]
    return b"\n".join(kind + b" " + _escaped(os.fsencode(path)) for kind, path in lines)


def opened_later(planned: bytes) -> bytes:
    """The same plan if someone else opens the folders."""
    return b"\n".join(
        line.replace(OPENED, INNER, 1) if line.startswith(OPENED) else line for line in planned.split(b"\n")
    )


def opened_paths(planned: bytes) -> list[bytes]:
    """The folders that are mounted from descriptors, in the order of these."""
    return [_unescaped(path) for path in _of_kind(planned, OPENED)]


def _escaped(path: bytes) -> bytes:
    for character, written in _SPECIAL.items():
        path = path.replace(character, written)
    return path


def _unescaped(path: bytes) -> bytes:
    for character, written in reversed(_SPECIAL.items()):
        path = path.replace(written, character)
    return path


class _Mount:
    """One line of the kernel's list."""

    def __init__(self, line: bytes) -> None:
        first, _, second = line.partition(b" - ")
        fields = first.split(b" ")
        self.device, self.root, self.path = fields[2:5]
        self.writable = b"rw" in fields[5].split(b",")
        self.kind = second.partition(b" ")[0]
        self.place = (self.device, self.root, self.path)


def problem(planned: bytes, built: bytes, outside: bytes) -> bytes:
    """The first path that is not mounted as planned; empty if all are. `built` and `outside` are what the kernel lists
    for a process in the sandbox, and for one that is not.
    """
    base, inner, closed = (_of_kind(planned, *kinds) for kinds in ((BASE,), (INNER, OPENED), (CLOSED,)))
    mounts = [_Mount(line) for line in built.splitlines()]
    around = [_Mount(line) for line in outside.splitlines()]
    last = {mount.path: mount for mount in mounts}
    for path in closed:
        if path not in last or last[path].writable:
            return path
    for path in base:
        if path not in last or not last[path].writable:
            return path
    for path in inner:
        if path not in last or not last[path].writable or not _shows_itself(last[path], mounts, around):
            return path
    known = {*base, *inner}
    for mount in mounts:
        if mount.writable and mount.path not in known and not _is_harmless(mount, mounts, around, base):
            return mount.path
    return b""


def _of_kind(planned: bytes, *kinds: bytes) -> list[bytes]:
    pairs = [line.partition(b" ") for line in planned.split(b"\n")]
    return [path for kind, _, path in pairs if kind in kinds]


def _shows_itself(mount: _Mount, mounts: list[_Mount], around: list[_Mount]) -> bool:
    """It shows what would be there without it: the same place of what is mounted around it, or what is mounted exactly
    there outside.
    """
    if any(mount.place == one.place for one in around):
        return True
    outer = [one for one in mounts if _is_below(mount.path, one.path)]
    nearest = max(outer, key=lambda one: len(one.path), default=None)
    if nearest is None or nearest.device != mount.device:
        return False
    below = mount.path[len(nearest.path.rstrip(b"/")) :]
    return mount.root == nearest.root.rstrip(b"/") + below


def _is_harmless(mount: _Mount, mounts: list[_Mount], around: list[_Mount], base: list[bytes]) -> bool:
    """It is new in this sandbox, a device, or was copied from outside: then it is not there a second time."""
    if all(mount.device != one.device for one in around):
        return True
    if mount.path.startswith(b"/dev/") and (mount.kind in _DEVICES or _name(mount.path) == _name(mount.root)):
        return True
    outside = sum(mount.place == one.place for one in around)
    if outside and any(_is_below(mount.path, path) for path in base):
        return True
    return 0 < sum(mount.place == one.place for one in mounts) <= outside


def _is_below(path: bytes, folder: bytes) -> bool:
    return path != folder and path.startswith(folder.rstrip(b"/") + b"/")


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


class MountGate:
    """It must be closed, but not before the launcher has ended: closing opens it."""

    def __init__(self, planned: bytes) -> None:
        self._plan = planned
        self.inside = 0
        """The first process in the sandbox; 0 if it is not known."""
        self.waiting, self._opening = os.pipe()

    def close(self) -> None:
        os.close(self._opening)

    def folders(self) -> list[tuple[int, int]]:
        """Our descriptors, and the numbers that the launcher expects. Raises OSError if a folder has become a link."""
        base = [_unescaped(path) for path in _of_kind(self._plan, BASE)]
        found = list[tuple[int, int]]()
        try:
            for path in opened_paths(self._plan):
                around = max((one for one in base if _is_below(path, one)), key=len)
                found.append((open_below(around, path[len(around.rstrip(b"/")) + 1 :]), FOLDERS + len(found)))
        except BaseException:
            for fd, _ in found:
                os.close(fd)
            raise
        return found

    def opened(self, report: "LauncherReport", control: int) -> bytes:
        """Wait for the mounts, and open if they are right; otherwise returns what is wrong. Empty also if the launcher
        has ended, or if nobody is left at the other end of `control`. `report` says which process is in the sandbox.
        """
        until = time.monotonic() + _MOUNT_SECONDS
        gone = select.poll()
        gone.register(control, 0)
        pid = self.inside = _process_inside(report, control, until)
        while pid and time.monotonic() < until:
            status = _content(b"/proc/%d/status" % pid)
            if not status or _NO_RIGHTS in status:
                return self._compared(pid) if status else b""
            time.sleep(_PAUSE)
            if gone.poll(0):
                return b""
        return b"nothing was mounted in time" if time.monotonic() >= until else b""

    def _compared(self, pid: int) -> bytes:
        built, outside = (_content(b"/proc/%s/mountinfo" % one) for one in (b"%d" % pid, b"self"))
        if wrong := problem(self._plan, built, outside):
            return wrong
        os.write(self._opening, b"++")
        return b""


def open_below(folder: bytes, path: bytes) -> int:
    """Without following a link. Raises OSError."""
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in path.split(b"/"):
        try:
            below = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _process_inside(report: "LauncherReport", control: int, until: float) -> int:
    """0 if there is none."""
    looking = select.poll()
    looking.register(report.fd, select.POLLIN)
    looking.register(control, 0)  # only to notice that nobody is left
    while time.monotonic() < until:
        ready = {fd for fd, _ in looking.poll(1000)}
        if control in ready or (ready and not report.hear()):
            return 0
        if report.inside:
            return report.inside
    return 0


def _content(path: bytes) -> bytes:
    """Empty if it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    data = b""
    try:
        while piece := os.read(fd, 65_536):
            data += piece
    except OSError:
        return b""
    finally:
        os.close(fd)
    return data
