"""Decodes a file's bytes to text and back, preserving what the text does not show: encoding, byte order mark, line
endings.

It knows no path and accesses no file.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Newline = Literal["\n", "\r\n"]

_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),  # before UTF-16, whose mark is a prefix of this one
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SNIFFED = 8192


class NotText(ValueError):
    """The bytes are not text in any encoding that can be written back safely."""


class TextFile(Struct, frozen=True):
    """`text` is the file's text with its line endings, without the byte order mark."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> Newline | None:
        """The line ending that most lines have; None if there are none yet."""
        lines = self.text.count("\n")
        return None if not lines else "\r\n" if self.text.count("\r\n") * 2 > lines else "\n"

    def encoded(self) -> bytes:
        """Raises UnicodeEncodeError for a character that the file's encoding does not have."""
        return self.mark + self.text.encode(self.encoding)

    def with_text(self, text: str) -> "TextFile":
        return replace(self, text=text)


def decode(data: bytes) -> TextFile:
    """Raises NotText. Without a mark, bytes that are not UTF-8 are read as Latin-1, which restores every byte."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data, mark, encoding)
    if b"\0" in data[:_SNIFFED]:
        raise NotText
    try:
        return TextFile(data.decode())
    except UnicodeDecodeError:
        if _looks_binary(data[:_SNIFFED]):
            raise NotText from None
        return TextFile(data.decode("latin-1"), "latin-1")


def _decode_marked(data: bytes, mark: bytes, encoding: str) -> TextFile:
    try:
        return TextFile(data[len(mark) :].decode(encoding), encoding, mark)
    except UnicodeDecodeError:
        raise NotText from None


def _looks_binary(sample: bytes) -> bool:
    control = sum(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in sample)
    return control * 10 > len(sample)


def with_newlines(text: str, newline: Newline | None) -> str:
    """Make all line endings the same; None leaves them."""
    if newline is None:
        return text
    text = text.replace("\r\n", "\n")
    return text if newline == "\n" else text.replace("\n", "\r\n")
