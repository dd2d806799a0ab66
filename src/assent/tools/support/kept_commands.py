"""What a kept command leaves in the session's folder: its output, and beside it what finds the command again.

Only the person can read the files. Assent writes what was printed so far; everything later comes from the reaper
(`process/kept_output.py`), which does not mask secrets: whoever reads it for the model has to do that.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.files.private_folder import PrivateFolder, save_private
from assent.process.kept_process import KeptProcess, ReaperId, reaper_id
from assent.process.run_program import Keeping
from assent.sandbox.kept_places import KeptPlaces
from assent.tools.support.whole_output import output_name

_TAIL = 200_000
"""Bytes."""
_LAST_WORD = re.compile(rb"\n\[(exit \d+|signal \d+)\]\n\Z")


class _Traces(Struct, frozen=True):
    reaper: ReaperId
    places: KeptPlaces
    """What the sandbox puts right after the command has ended."""


class KeptFiles:
    """The files of one kept command."""

    def __init__(self, folder: PrivateFolder, path: str) -> None:
        self.path = path
        self._folder, self._name = folder, os.path.basename(path)

    def tail(self) -> str:
        """The newest output."""
        return self._end().decode(errors="replace")

    def outcome(self) -> str:
        """How it ended without us; empty if the file does not say it."""
        found = _LAST_WORD.search(self._end())
        return "" if found is None else found[1].decode()

    def _end(self) -> bytes:
        size = self._piece(self._name, 0, 0)[1]
        return self._piece(self._name, max(0, size - _TAIL), _TAIL)[0]

    def process(self) -> KeptProcess:
        """The caller has to close it. Raises ProcessLookupError if it does not run on this machine."""
        if (traces := self._traces()) is None:
            raise ProcessLookupError(f"nothing is known of it: {self.path} is gone")
        return KeptProcess(traces.reaper)

    def restore(self) -> list[str]:
        """After its end; returns a sentence for each thing that the sandbox had to put right."""
        return [] if (traces := self._traces()) is None else traces.places.restore()

    def _traces(self) -> _Traces | None:
        try:
            return msgspec.json.decode(self._piece(_beside(self._name), 0, 1 << 20)[0], type=_Traces)
        except msgspec.DecodeError:
            return None

    def _piece(self, name: str, offset: int, limit: int) -> tuple[bytes, int]:
        return self._folder.piece(name, offset, limit) or (b"", 0)


def keep(
    folder: PrivateFolder, call_id: str, keeping: Keeping, output: Callable[[], str], places: KeptPlaces
) -> KeptFiles:
    """`output` is what it has printed so far. Raises OSError."""
    path, file = folder.open_new(f"kept-{output_name(call_id)}")

    def prepare(reaper: int) -> None:
        with os.fdopen(os.dup(file), "wb") as writing:
            writing.write(output().encode(errors="replace"))
        save_private(Path(_beside(path)), msgspec.json.encode(_Traces(reaper_id(reaper), places)))

    try:
        keeping.keep(file, prepare)
    except BaseException:
        folder.forget(os.path.basename(path))
        raise
    finally:
        os.close(file)
    return KeptFiles(folder, path)


def _beside(name: str) -> str:
    return f"{name}.json"
