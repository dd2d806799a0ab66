"""What the launcher of a sandbox reports: first which process is in it, and at the end that the program itself ran.

As soon as it knows the process, it takes hold of the counters of its network, which tell more than the output does.
Like the reaper that uses it, it imports next to nothing.
"""

import os

from assent.process.network_counters import NetworkCounters

NEVER_RAN = b"never ran"
"""Said instead of an exit status if the launcher failed."""
MISSED = b"missed the network"
"""Said after the exit status if the program tried to use the network, and its sandbox has none."""


class LauncherReport:
    def __init__(self) -> None:
        self.fd, self.writing = os.pipe()
        """Ours, and the end for the launcher, which whoever starts it closes."""
        os.set_blocking(self.fd, False)
        self._text = b""
        self._network: NetworkCounters | None = None

    def hear(self) -> bool:
        """Whether there may be more to come."""
        try:
            piece = os.read(self.fd, 4096)
        except BlockingIOError:
            return True
        self._text += piece
        if self._network is None and self.inside:
            self._network = NetworkCounters(self.inside)
        return bool(piece)

    @property
    def inside(self) -> int:
        """The first process in the sandbox; 0 if it is not known."""
        digits = self._text.partition(b'"child-pid":')[2].lstrip()
        number = digits[: len(digits) - len(digits.lstrip(b"0123456789"))]
        return int(number) if number and len(number) < len(digits) else 0

    def ending(self, status: int) -> bytes:
        """How the program ended, as Assent is told. If the launcher reports no exit code of it, there was none."""
        self.hear()
        if b"exit-code" not in self._text:
            return NEVER_RAN
        missed = self._network is not None and self._network.missed()
        return b"%d %s" % (status, MISSED if missed else b"")

    def close(self) -> None:
        os.close(self.fd)
        if self._network is not None:
            self._network.close()
