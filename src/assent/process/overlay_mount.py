"""Mounts an overlay on a folder and starts a program in it: `overlay_mount.py ROOT UPPER WORK COUNT FOLDERS... PROGRAM
ARGUMENTS...`.

A program of its own, because a mount namespace belongs to a process: everything that PROGRAM does sees the overlay, and
nobody else does. Writes go to UPPER; ROOT itself cannot change. If WORK is `-`, UPPER is a full copy of ROOT and takes
its place: then folders can be renamed, which an overlay without privileges refuses. The mount ends with the last
process in it, however that one ends. Needs only the standard library, which it loads without site packages.
"""

import ctypes
import os
import sys

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 1 << 18
COPY = "-"
FOLDERS = 400
"""The same as in `mount_gate`, which this program does not load."""
_FAILED = 125


class _MountFailed(Exception):
    """What did not work, and why."""


def main(argv: list[str]) -> None:
    root, upper, work, count, *rest = argv
    folders, program = rest[: int(count)], rest[int(count) :]
    try:
        _isolate()
        _mount(None, "/", None, _RECURSIVE | _PRIVATE, None)
        if work == COPY:
            _mount(upper, root, None, _BIND, None)
        else:
            _mount("overlay", root, "overlay", 0, _options(root, upper, work))
        for number, path in enumerate(folders, FOLDERS):
            _open_at(root, path, number)
        os.execv(program[0], program)
    except (_MountFailed, OSError) as error:
        sys.stderr.write(f"the workspace cannot be overlaid: {error}\n")
        sys.exit(_FAILED)


def _open_at(root: str, path: str, number: int) -> None:
    """A folder in the overlay, for the program, which mounts it from there (`mount_gate`). No link is followed."""
    fd = os.open(root, os.O_PATH | os.O_DIRECTORY)
    for name in os.path.relpath(path, root).split(os.sep):
        below = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        os.close(fd)
        fd = below
    os.dup2(fd, number)
    os.close(fd)


def _isolate() -> None:
    """Root mounts in its own right, if it may; others in a user namespace, in which they stay who they are."""
    uid, gid = os.getuid(), os.getgid()
    if uid == 0 and _libc().unshare(_NEW_MOUNTS) == 0:
        return
    _check(_libc().unshare(_NEW_MOUNTS | _NEW_USER), "a namespace of its own")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _options(root: str, upper: str, work: str) -> str:
    folders = (f"lowerdir={_quoted(root)}", f"upperdir={_quoted(upper)}", f"workdir={_quoted(work)}")
    return ",".join((*folders, "userxattr", "volatile"))


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None) -> None:
    given = (None if text is None else os.fsencode(text) for text in (source, target, kind))
    data = None if options is None else os.fsencode(options)
    place, where, how = given
    _check(_libc().mount(place, where, how, ctypes.c_ulong(flags), data), f"mount {target}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(code: int, what: str) -> None:
    if code != 0:
        raise _MountFailed(f"{what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1:])
