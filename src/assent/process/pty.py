"""Where a child's output goes: our own pipe, or the slave side of a pseudo-terminal.

Never asyncio's pipes: those count as open as long as any grandchild holds them, and the call would wait for it. Unless
someone can type, the terminal does not become the child's controlling terminal, so that opening /dev/tty (sudo,
ssh-add) fails at once instead of waiting for input that never comes.
"""

import contextlib
import errno
import os
import sys

from msgspec import Struct

CHUNK = 1 << 17
_PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = 1031
EXTPROC = 0o200000 if sys.platform == "linux" else 0
"""Linux's flag for a terminal whose lines someone else edits and echoes; Python has no name for it. Other systems have
a flag of this name, too, but it makes the terminal pass on every key at once."""


class Size(Struct, frozen=True):
    """A terminal's size."""

    columns: int = 120
    rows: int = 40


class Channel:
    """Our end to read from, and the child's end to pass on and then close."""

    def __init__(self, terminal: Size | None, *, input: bool = False) -> None:
        """`input`: the child can read from the terminal."""
        self.ours, self.theirs = _open_pipe() if terminal is None else _open_terminal(terminal, input)
        os.set_blocking(self.ours, False)
        self.device = os.fstat(self.theirs).st_rdev
        """The number of the terminal."""
        self.name = os.readlink(f"/proc/self/fd/{self.theirs}") if os.path.isdir("/proc/self/fd") else ""
        """The kernel's name for the child's end in /proc, for finding its holders."""

    def read(self) -> bytes | None:
        """Available output; empty if the last writer is gone; None if there is nothing yet."""
        try:
            return os.read(self.ours, CHUNK)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.EIO:  # how a terminal reports that the last writer is gone
                return b""
            raise

    def close_theirs(self) -> None:
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1

    def close(self) -> None:
        self.close_theirs()
        if self.ours >= 0:
            os.close(self.ours)
            self.ours = -1


def _open_pipe() -> tuple[int, int]:
    import fcntl

    ours, theirs = os.pipe()
    with contextlib.suppress(OSError):  # only for speed: fewer wake-ups during a flood
        fcntl.fcntl(theirs, _F_SETPIPE_SZ, _PIPE_SIZE)
    return ours, theirs


def _open_terminal(size: Size, input: bool) -> tuple[int, int]:
    import termios

    ours, slave = os.openpty()
    try:
        termios.tcsetwinsize(slave, (size.rows, size.columns))
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST  # newlines stay newlines, as through a pipe; and it is three times as fast
        if input:
            attributes[3] |= EXTPROC  # what is typed is not echoed, and the echo flag stays the program's own
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        # Without input only for writing: a pager that reads keys from stderr gives up at once instead of waiting.
        theirs = os.open(os.ttyname(slave), (os.O_RDWR if input else os.O_WRONLY) | os.O_NOCTTY)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(slave)
    return ours, theirs
