"""The output of a command that a person keeps: from then on its reaper reads it, and writes it to a file.

What does not fit into the file is read and dropped, so that the command never waits for a reader. Like the reaper, this
imports only what costs next to nothing.
"""

import os

KEEP = b"K"
"""Sent with two descriptors: where the output can be read, and the file."""
MAX_FILE = 20_000_000
"""Bytes of the file, including what was printed before."""
_FULL = b"\n[the rest of the output was not written]\n"
_CHUNK = 1 << 16
_READS = 32
"""At once, so that a flood does not delay everything else."""


class KeptOutput:
    def __init__(self, source: int, file: int) -> None:
        self.source, self._file = source, file
        self._room = MAX_FILE - os.fstat(file).st_size

    def pass_on(self) -> bool:
        """What is available at once. False if no more can come."""
        for _ in range(_READS):
            try:
                data = os.read(self.source, _CHUNK)
            except BlockingIOError:
                return True
            except OSError:  # how a terminal reports that the last writer is gone
                return False
            if not data:
                return False
            self._write(data)
        return True

    def finish(self, status: int) -> None:
        """Nobody else will learn how the command ended."""
        how = b"exit %d" % status if status >= 0 else b"signal %d" % -status
        self._append(b"\n[%s]\n" % how)

    def _write(self, data: bytes) -> None:
        if self._room > 0:
            self._append(data[: self._room])
            self._room -= len(data)
            if self._room < 0:
                self._append(_FULL)

    def _append(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:  # a full disk must not end the command
            self._room = 0

    def close(self) -> None:
        os.close(self.source)
        os.close(self._file)
