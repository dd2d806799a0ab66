"""The newest output of background commands that have ended, kept for the session. Secrets in it are masked.

If it cannot be written, nothing else changes: how a command ended does not depend on it.
"""

from collections.abc import Callable
from contextlib import suppress

from assent.files.private_folder import PrivateFolder
from assent.tools.support.whole_output import output_name

_MOST_BYTES = 4_000_000
NOT_KEPT = "(no longer kept)"


class EndedOutputs:
    def __init__(self, folder: PrivateFolder, mask: Callable[[str], str]) -> None:
        self._folder = folder
        self._mask = mask

    def save(self, call_id: str, text: str) -> None:
        with suppress(OSError), self._folder.create(_name(call_id)) as file:
            file.write(self._mask(text).encode(errors="replace"))

    def load(self, call_id: str) -> str:
        piece = self._folder.piece(_name(call_id), 0, _MOST_BYTES)
        return NOT_KEPT if piece is None else piece.data.decode(errors="replace")


def _name(call_id: str) -> str:
    return f"background-{output_name(call_id)}"
