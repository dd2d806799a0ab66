"""Turns a box into a profile of Seatbelt, the sandbox of macOS, as text for `sandbox-exec`.

The last rule that matches decides, so the order is: everything is denied, what is needed is allowed, then what stays
closed is denied again. Weaker than bubblewrap: /tmp is shared with other programs, other processes can be seen, and
there is no proxy, so there is no profile `network`. Knows no policy and starts nothing.
"""

import os
from collections.abc import Iterable, Iterator

from assent.process.spawn import Launcher
from assent.sandbox.boxes import Box, BoxProblem

PROGRAM = "/usr/bin/sandbox-exec"
_TEMPORARY = ("/private/tmp", "/private/var/tmp")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")
_BASE = """\
(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-ioctl (regex #"^/dev/tty"))
(allow file-write-data (regex #"^/dev/tty"))"""
"""What every program needs: to read files, to start others, and to use its terminal. No network: what is not allowed is
denied.
"""


def sandbox_exec() -> str | None:
    """Where it is; None if this is not macOS."""
    return PROGRAM if os.access(PROGRAM, os.X_OK) else None


def seatbelt_launcher(box: Box) -> Launcher:
    """Raises BoxProblem for a profile with a network, and for paths that cannot be written down."""
    return Launcher((PROGRAM, "-p", seatbelt_profile(box)))


def seatbelt_profile(box: Box) -> str:
    if box.profile.network:
        raise BoxProblem("on macOS there is no sandbox with a network")
    return "\n".join((_BASE, *_writing(box), *_closing(box))) + "\n"


def _writing(box: Box) -> Iterator[str]:
    yield from _rule("allow file-write*", "literal", _DEVICES)
    if box.profile.writes:
        yield from _rule("allow file-write*", "subpath", (*box.roots, *box.writable, *_TEMPORARY))
        yield from _rule("deny file-write*", "subpath", (*box.protected, *box.kept.empty))
        # Whoever could move a folder above a protected path could put something else in its place.
        yield from _rule("deny file-write-unlink", "literal", (*box.roots, *box.ancestors()))


def _closing(box: Box) -> Iterator[str]:
    """Hidden files can be neither read nor replaced, and programs that insist on reading an emptied one fail."""
    closed = (*box.hidden, *box.emptied)
    yield from _rule("deny file-read*", "subpath", closed)
    yield from _rule("deny file-write*", "subpath", closed)


def _rule(what: str, kind: str, paths: Iterable[str]) -> Iterator[str]:
    filters = [f"({kind} {_quoted(path)})" for path in dict.fromkeys(paths)]
    if filters:
        yield f"({what} {' '.join(filters)})"


def _quoted(path: str) -> str:
    if not path.isprintable():
        raise BoxProblem(f"the path {path!r} cannot be written into a profile of Seatbelt")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
