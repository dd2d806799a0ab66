"""Starts a command that gets the approved content of its files (`file_gate.py`), in front of a sandbox or alone."""

import marshal
import os
import sys
from binascii import b2a_base64
from collections.abc import Sequence

from msgspec import Struct

from assent.plan import ExecutedFile
from assent.process.changed_files import FileChanged
from assent.process.file_gate import AVAILABLE
from assent.process.launch import source_folder
from assent.process.reaper import INPUTS
from assent.process.spawn import Launcher
from assent.safe_open import read_regular

MAX_BYTES = 8_000_000
"""Of all files together. Larger ones are only looked at before and after the start."""
_START = "import sys; sys.path.insert(0, {!r}); from assent.process.file_gate import main; main()"


class ApprovedContent(Struct, frozen=True):
    path: str
    data: bytes


def approved_contents(files: Sequence[ExecutedFile]) -> list[ApprovedContent]:
    """The files as they were approved, byte for byte. Raises FileChanged if one is no longer that."""
    from hashlib import sha256

    found: list[ApprovedContent] = []
    room = MAX_BYTES
    for file in files if AVAILABLE else ():
        try:
            data = read_regular(file.path, room)
        except OSError:
            continue  # too large, or unreadable; whoever starts it looks again
        if sha256(data).hexdigest() != file.sha256:
            raise FileChanged(file.path)
        found.append(ApprovedContent(file.path, data))
        room -= len(data)
    return found


def gated(launcher: Launcher | None, contents: Sequence[ApprovedContent], before: Sequence[str]) -> Launcher | None:
    """A launcher has to offer the contents as its `copies`, in this order. `before` are the words between it and the
    command; the programs that they name open none of the files.
    """
    if not contents:
        return launcher
    words = () if launcher is None else launcher.argv
    inputs = () if launcher is None else launcher.inputs[: -len(contents)]
    copies = ("",) * len(contents) if launcher is None else launcher.copies
    wanted = {
        "files": [
            {"names": list(dict.fromkeys((one.path, os.path.realpath(one.path)))), "copy": copy, "source": at}
            for at, (one, copy) in enumerate(zip(contents, copies, strict=True), INPUTS + len(inputs))
        ],
        "before": [word for word in (*words, *before) if _is_program(word)],
        "alone": launcher is None,
    }
    told = b2a_base64(marshal.dumps(wanted), newline=False).decode()
    gate = (sys.executable, "-I", "-S", "-c", _START.format(source_folder()), told)
    mounts = b"" if launcher is None else launcher.mounts
    return Launcher((*gate, *words), (*inputs, *(one.data for one in contents)), copies, mounts)


def _is_program(word: str) -> bool:
    return word.startswith("/") and os.path.isfile(word) and os.access(word, os.X_OK)
