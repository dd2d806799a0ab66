"""The process's own streams: always open, always UTF-8, and no traceback when the reader has gone."""

import errno
import io
import os
import sys


def prepare_streams() -> None:
    """Opens those that were closed, before anything else takes their descriptors; output is UTF-8 everywhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (stays open until exit)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def reader_has_gone(error: OSError) -> bool:
    """A closed pipe, or a terminal that was hung up."""
    return error.errno in (errno.EPIPE, errno.EIO)


def no_room_left(error: OSError) -> bool:
    """The file that the output goes to cannot grow."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def discard_output() -> None:
    """Discards what is still buffered, so that the interpreter does not fail on it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
