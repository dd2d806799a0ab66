"""Turns a box into the arguments of bubblewrap, which builds it from namespaces and mounts.

The order matters: a later mount covers an earlier one. The arguments go through a descriptor, so that the processes in
the box cannot read in `/proc` what is hidden from them. Knows no policy and starts nothing.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from assent.process.mount_gate import FOLDERS, WAITS, plan
from assent.process.reaper import INPUTS, STATUS
from assent.process.spawn import Launcher
from assent.proxy.sandbox_port import INSIDE, opener_argv
from assent.sandbox.boxes import Box
from assent.sandbox.seccomp import seccomp_filter
from assent.subpath import is_below

TEMPORARY = ("/tmp", "/var/tmp", "/run")
"""Replaced by empty folders: other programs listen on sockets in them, and anyone can leave files there."""
_KERNEL_SETTINGS = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/mtrr",
    "/proc/acpi",
    "/proc/fs",
    "/proc/scsi",
    "/proc/dynamic_debug",
)
"""Of the whole machine. The kernel lets root change them by its number alone, without any capability."""
_SIGNALS = "INT,TERM,HUP,QUIT"
"""bubblewrap ignores them, so that they reach the command; `env` gives them back their meaning for it."""
_COPY = "/run/assent-approved-{}"
_PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")


def bubblewrap() -> str | None:
    """Where it is. The search path may lead into the workspace, so it is not used."""
    return next((path for path in _PLACES if os.access(path, os.X_OK)), None)


def bubblewrap_launcher(program: str, box: Box, cwd: str, masks: "Masks", approved: Sequence[bytes] = ()) -> Launcher:
    """`approved` is the content of files that the command has to get (`process.file_gate`)."""
    filters = [one for one in [seccomp_filter(sockets=box.profile.sockets)] if one]
    copies = tuple(_COPY.format(number) for number in range(len(approved)))
    first = INPUTS + 1 + len(filters)
    arguments = "\0".join([*_arguments(box, cwd, masks), *_copied(copies, first)]) + "\0"
    opener = opener_argv() if box.proxy_socket else ()
    words = (program, "--args", str(INPUTS), "--", "/usr/bin/env", f"--default-signal={_SIGNALS}", *opener)
    return Launcher(words, (os.fsencode(arguments), *filters, *approved), copies, planned_mounts(box))


def _copied(copies: Sequence[str], first: int) -> Iterator[str]:
    """Files of their own, which nobody outside can replace."""
    for at, path in enumerate(copies, first):
        yield from ("--perms", "0555", "--ro-bind-data", str(at), path)


class Masks:
    """The two files that stand for hidden ones: one that nobody can open, and one that is empty."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.closed = os.path.join(folder, "closed")
        self.empty = os.path.join(folder, "empty")

    def make(self) -> None:
        from assent.files.private_folder import make_private

        make_private(self.folder)
        for path, mode in ((self.closed, 0o000), (self.empty, 0o444)):
            if not os.path.lexists(path):
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode))
            os.chmod(path, mode)


def _arguments(box: Box, cwd: str, masks: Masks) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    yield from ("--unshare-net", "--die-with-parent", "--cap-drop", "ALL")
    yield from () if seccomp_filter() else ("--disable-userns",)  # the filter refuses new namespaces, too
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    for path in _KERNEL_SETTINGS:
        yield from ("--ro-bind-try", path, path)
    for folder in filter(os.path.isdir, TEMPORARY):
        yield from ("--tmpfs", folder)
    if box.proxy_socket:
        yield from ("--ro-bind", box.proxy_socket, INSIDE)
    bound = (*box.roots, *box.writable)
    outside = [path for path in (*box.hidden, *box.emptied) if not is_below(path, (*bound, *TEMPORARY))]
    inside = [path for path in (*box.hidden, *box.emptied) if is_below(path, bound)]
    yield from _mask(box, outside, masks)
    yield from _needed(box)
    yield from _workspace(box)
    yield from _mask(box, inside, masks)
    yield from ("--json-status-fd", str(STATUS), "--chdir", cwd)
    if planned_mounts(box):
        yield from ("--block-fd", str(WAITS))
    if seccomp_filter():
        yield from ("--seccomp", str(INPUTS + 1))


def planned_mounts(box: Box) -> bytes:
    """For `mount_gate`; empty if nothing is mounted in what a command can change."""
    bound = (*box.roots, *box.writable)
    closed = [path for path in (*box.protected, *box.hidden, *box.emptied) if is_below(path, bound)]
    inner = inner_folders(box)
    if not box.profile.writes or not (closed or inner):
        return b""
    return plan([path for path in bound if path not in inner], inner, closed, by_descriptor=_takes_descriptors())


def inner_folders(box: Box) -> list[str]:
    """What a command in another sandbox of this workspace can replace with something else, from the outside in."""
    bound = (*box.roots, *box.writable)
    nested = (one for one in box.writable if is_below(os.path.dirname(one), bound) and os.path.isdir(one))
    return sorted({*box.ancestors(), *nested})


@cache
def _takes_descriptors() -> bool:
    """Whether it knows `--bind-fd`; asking it would take longer than looking."""
    program = bubblewrap()
    try:
        return program is not None and b"--bind-fd" in Path(program).read_bytes()
    except OSError:
        return False


def _workspace(box: Box) -> Iterator[str]:
    if not box.profile.writes:
        for root in box.roots:
            yield from ("--ro-bind", root, root)
        return
    inner = inner_folders(box)
    for path in (*box.roots, *box.writable):
        yield from ("--bind", path, path) if path not in inner else ()
    for number, path in enumerate(inner, FOLDERS):
        yield from ("--bind-fd", str(number), path) if _takes_descriptors() else ("--bind", path, path)
    for path in box.protected:
        yield from ("--ro-bind", path, path)


def _needed(box: Box) -> Iterator[str]:
    for path in box.needed:
        if is_below(path, TEMPORARY):
            yield from ("--ro-bind", path, path)


def _mask(box: Box, paths: Sequence[str], masks: Masks) -> Iterator[str]:
    for path in paths:
        if path in box.emptied:
            yield from ("--ro-bind", masks.empty, path)
        elif os.path.isdir(path):
            yield from ("--perms", "0000", "--tmpfs", path, "--remount-ro", path)
        else:
            yield from ("--ro-bind", masks.closed, path)
