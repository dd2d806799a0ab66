"""Output that is too long for the model: its beginning and end are shown, and all of it is in a file the model can
read.

The file is written as the output arrives, so memory use stays small; colours and overwritten lines are removed from it,
as from what the model sees. Without a folder to write to, the output is only cut.
"""

import hashlib
from collections.abc import Callable

from assent.files.private_folder import PrivateFile, PrivateFolder

MODEL_CHARACTERS = 40_000
HEAD = MODEL_CHARACTERS // 5
MAX_BYTES = 20_000_000
"""As much as read_file reads."""
_MAX_LINE_LENGTH = 1_000_000


def output_name(call_id: str) -> str:
    """One file per call, found by the call's id. The digest distinguishes ids of which only a part is used."""
    return f"{call_id}-{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:12]}.txt"


class WholeOutput:
    """Feed it all the text; once that is longer than the model may see, it goes to a file."""

    def __init__(self, folder: PrivateFolder | None, name: str, plain: Callable[[str], str] = str) -> None:
        self._folder = folder
        self._name = name
        self._plain = plain
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
            self._or_give_up(lambda: self._write_lines(text))

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

    def _write_lines(self, newest: str) -> None:
        """Whole lines only: something that overwrites the line may still come."""
        file = self._open()
        if "\n" not in newest and self._waiting_length < _MAX_LINE_LENGTH:
            return
        text = "".join(self._waiting)
        end = text.rfind("\n") + 1 or len(text)
        self._waiting, self._waiting_length = [text[end:]], len(text) - end
        self._write(file, text[:end])

    def _write_rest(self) -> None:
        file = self._open()
        self._write(file, "".join(self._waiting))
        file.close()
        self._file = None

    def _write(self, file: PrivateFile, text: str) -> None:
        data = self._plain(text).encode(errors="replace")
        file.write(data[: self._room])
        self.cut = self.cut or len(data) > self._room
        self._room -= min(len(data), self._room)
