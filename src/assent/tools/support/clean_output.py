"""A command's output as it is kept in a file: plain text, with secrets masked."""

from assent.process.plain_text import plain
from assent.secrets.mask import Masker
from assent.tools.support.whole_output import Cleaner


class OutputCleaner(Cleaner):
    """Feed it whole lines."""

    def __init__(self, masker: Masker) -> None:
        self._masked = masker.stream()

    def feed(self, block: str) -> str:
        return self._masked.feed(plain(block))

    def close(self) -> str:
        return self._masked.close()
