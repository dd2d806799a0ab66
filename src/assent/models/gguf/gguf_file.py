"""What a GGUF file says about its model, read from its header: name, context window, chat template.

The header is a list of typed values before the weights. Only scalars and strings are read; arrays, such as the
vocabulary, are skipped. This module starts no process.
"""

import os
import struct
from collections.abc import Iterator
from typing import IO

from msgspec import Struct

from assent.models.model_protocol import BadRequest

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING = 8
_MAX_STRING = 16 << 20
_MAX_VALUES = 100_000

Value = int | float | bool | str | None


class GgufFile(Struct, frozen=True):
    path: str
    name: str
    window: int
    """The context length the model was trained with; 0 if the file does not say."""
    chat_template: str

    @property
    def knows_tools(self) -> bool:
        """Whether its chat template tells the model about tools."""
        return "tools" in self.chat_template


def read_gguf(path: str) -> GgufFile:
    """Raises BadRequest for a file that is missing or is not a GGUF file."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            values = dict(_values(file))
    except OSError as error:
        raise BadRequest(f"cannot read the model file {path}: {error.strerror}") from error
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise BadRequest(f"{path} is not a usable GGUF file: {error}") from error
    family = str(values.get("general.architecture", ""))
    window = values.get(f"{family}.context_length")
    return GgufFile(
        os.path.realpath(os.path.expanduser(path)),
        str(values.get("general.name") or os.path.basename(path)),
        window if isinstance(window, int) else 0,
        str(values.get("tokenizer.chat_template") or ""),
    )


def _values(file: IO[bytes]) -> Iterator[tuple[str, Value]]:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version, _, count = _unpack(file, "<IQQ")
    if version < 2 or count > _MAX_VALUES:
        raise ValueError(f"its header has an unknown layout (version {version}, {count} values)")
    for _ in range(count):
        yield _string(file), _value(file, *_unpack(file, "<I"))


def _value(file: IO[bytes], kind: int) -> Value:
    match kind:
        case 8:
            return _string(file)
        case 9:
            return _skip_array(file)
        case _ if kind in _SCALARS:
            return _unpack(file, f"<{_SCALARS[kind]}")[0]
        case _:
            raise ValueError(f"its header has a value of unknown type {kind}")


def _skip_array(file: IO[bytes]) -> None:
    kind, count = _unpack(file, "<IQ")
    if kind in _SCALARS:
        file.seek(count * struct.calcsize(_SCALARS[kind]), os.SEEK_CUR)
        return
    for _ in range(count):
        if kind == _STRING:
            file.seek(_length(file), os.SEEK_CUR)
        else:
            _value(file, kind)


def _string(file: IO[bytes]) -> str:
    length = _length(file)
    data = file.read(length)
    if len(data) != length:
        raise ValueError("it ends in the middle of its header")
    return data.decode("utf-8", "replace")


def _length(file: IO[bytes]) -> int:
    (length,) = _unpack(file, "<Q")
    if length > _MAX_STRING:
        raise ValueError("its header has a string of an impossible length")
    return length


def _unpack(file: IO[bytes], layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))
