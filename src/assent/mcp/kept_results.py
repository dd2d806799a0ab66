"""Results that are too long for the model: all of it is kept in a file of Assent's own, with secrets masked."""

from collections.abc import Callable

from assent.files.private_folder import PrivateFolder
from assent.parts import Media, Text
from assent.secrets.mask import Masker
from assent.tools.support.whole_output import WholeOutput, output_name

Part = Text | Media
Keep = Callable[[str], str]
"""Takes the whole text and returns what to tell the model: where it is. Empty if it cannot be kept."""


class KeptResults:
    def __init__(self, folder: PrivateFolder | None = None, masker: Masker | None = None) -> None:
        self._folder = folder
        self._masker = masker or Masker()

    def of(self, call_id: str) -> Keep:
        def keep(text: str) -> str:
            whole = WholeOutput(self._folder, output_name(call_id))
            whole.add(self._masker.text(text))
            whole.close()
            return whole.note(len(text))

        return keep
