"""Decodes the frames of the event stream from bytes that may be split anywhere."""

from collections.abc import Iterator

from msgspec import Struct


class Frame(Struct, frozen=True):
    kind: str
    data: tuple[bytes, ...]
    """One item per `data:` line: for `events`, one event each."""
    cursor: str | None = None


class FrameDecoder:
    def __init__(self) -> None:
        self._held = b""

    def feed(self, block: bytes) -> Iterator[Frame]:
        """The frames that are complete now; comments are skipped."""
        *whole, self._held = (self._held + block).split(b"\n\n")
        for text in whole:
            frame = _frame(text)
            if frame.data:
                yield frame


def _frame(text: bytes) -> Frame:
    kind, data, cursor = "message", list[bytes](), None
    for line in text.split(b"\n"):
        name, _, value = line.partition(b": ")
        match name:
            case b"event":
                kind = value.decode()
            case b"data":
                data.append(value)
            case b"id":
                cursor = value.decode()
            case _:
                continue
    return Frame(kind, tuple(data), cursor)
