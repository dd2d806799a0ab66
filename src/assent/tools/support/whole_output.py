"""Output that is too long for the model: its beginning and end are shown, and all of it is in a file the model can
read.

The file is written as the output arrives, so memory use stays small, and in large blocks, because cleaning a text costs
time per piece. Where the blocks end depends on the output alone, not on the pieces in which it arrives. Colours and
overwritten lines are removed, as from what the model sees. Without a folder to write to, the output is only cut.
"""

import hashlib
from collections.abc import Callable

from assent.files.private_folder import PrivateFile, PrivateFolder

MODEL_CHARACTERS = 40_000
HEAD = MODEL_CHARACTERS // 5
MAX_BYTES = 20_000_000
"""As much as read_file reads."""
_BLOCK = 1 << 17
"""Characters. Small enough to be handled on the event loop."""
_MAX_LINE_LENGTH = 1_000_000


class Cleaner:
    """Changes nothing. Another one may hold back the end of a block until it knows what follows."""

    def feed(self, block: str) -> str:
        return block

    def close(self) -> str:
        """What is left."""
        return ""


def output_name(call_id: str) -> str:
    """One file per call, found by the call's id. The digest distinguishes ids of which only a part is used."""
    return f"{call_id}-{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:12]}.txt"


class WholeOutput:
    """Feed it all the text; once that is longer than the model may see, it goes to a file."""

    def __init__(self, folder: PrivateFolder | None, name: str, cleaner: Cleaner | None = None) -> None:
        self._folder = folder
        self._name = name
        self._cleaner = cleaner or Cleaner()
        self._waiting: list[str] = []
        self._waiting_length = 0
        self._file: PrivateFile | None = None
        self._room = MAX_BYTES
        self.path = ""
        """The path, once there is a file."""
        self.cut = False
        """There was more output than the file may hold."""

    def add(self, text: str) -> None:
        if self._folder is None or self.cut:
            return
        self._waiting.append(text)
        self._waiting_length += len(text)
        if self._file is not None or self._waiting_length > MODEL_CHARACTERS:
            self._or_give_up(lambda: self._write_blocks(text))

    def close(self) -> None:
        if self._file is not None:
            self._or_give_up(self._write_rest)

    def _or_give_up(self, work: Callable[[], None]) -> None:
        """A full disk must not end the command."""
        try:
            work()
        except OSError:
            self._folder, self._file, self.path = None, None, ""

    def note(self, characters: int) -> str:
        """What to tell the model; empty if there is no file."""
        if not self.path:
            return ""
        whole = f"The first {MAX_BYTES:,} bytes are" if self.cut else "All of it is"
        return (
            f"Output too large ({characters:,} characters): its beginning and end are shown. {whole} in "
            f"{self.path}; use read_file with start_line and end_line."
        )

    def _open(self) -> PrivateFile:
        if self._file is None:
            assert self._folder is not None
            self._file = self._folder.create(self._name)
            self.path = self._file.path
        return self._file

    def _write_blocks(self, newest: str) -> None:
        file = self._open()
        is_line_open = "\n" not in newest and self._waiting_length < _MAX_LINE_LENGTH
        if self._waiting_length < _BLOCK or is_line_open:
            return
        text, at = "".join(self._waiting), 0
        while not self.cut and (end := _block_end(text, at)):
            self._write(file, self._cleaner.feed(text[at:end]))
            at = end
        self._waiting, self._waiting_length = [text[at:]], len(text) - at

    def _write_rest(self) -> None:
        file = self._open()
        if not self.cut:
            self._write(file, self._cleaner.feed("".join(self._waiting)) + self._cleaner.close())
        file.close()
        self._file = None

    def _write(self, file: PrivateFile, text: str) -> None:
        data = text.encode(errors="replace")
        file.write(data[: self._room])
        self.cut = len(data) > self._room
        self._room -= min(len(data), self._room)


def _block_end(text: str, start: int) -> int:
    """Where the block that starts here ends: after its last whole line, because something that overwrites a line may
    still come. 0 if that is not known yet.
    """
    if len(text) - start < _BLOCK:
        return 0
    end = text.rfind("\n", start, start + _BLOCK) + 1 or text.find("\n", start + _BLOCK, start + _MAX_LINE_LENGTH) + 1
    return end or (start + _MAX_LINE_LENGTH if len(text) - start >= _MAX_LINE_LENGTH else 0)
