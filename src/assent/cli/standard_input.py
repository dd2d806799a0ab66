"""Reads standard input, without ever waiting in silence.

A program that starts us may leave our input open and never write to it. That looks the same as a slow command at the
other end of a pipe, unless the system can tell who else holds the pipe.
"""

import select
import sys

from assent.cli.parsing import BadInput

MAX_INPUT = 8_000_000
NOTICE_AFTER = 3.0
"""Seconds before the person is told that Assent is waiting."""


def read_input(*, needed: bool) -> str:
    """`needed`: there is no prompt without it, so wait for it. Raises BadInput."""
    if not _is_ready(NOTICE_AFTER):
        if not needed and not _has_producer():
            _say(f"nothing arrived on standard input in {NOTICE_AFTER:.0f} s, so it is ignored; `-p -` waits for it")
            return ""
        _say("waiting for standard input; press Ctrl-C to stop")
    return _text(sys.stdin.buffer.read(MAX_INPUT + 1))


def _is_ready(seconds: float) -> bool:
    """Whether there is something to read, or the end of the input."""
    try:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    except (OSError, ValueError):  # a file, which cannot be waited for
        return True


def _has_producer() -> bool:
    from assent.process.pipes import has_producer

    try:
        return has_producer(sys.stdin.fileno())
    except (OSError, ValueError):
        return False


def _text(data: bytes) -> str:
    if len(data) > MAX_INPUT:
        raise BadInput(f"standard input is longer than {MAX_INPUT:,} bytes; put it in a file and mention that")
    if b"\0" in data:
        raise BadInput("standard input is not text: it contains a NUL byte")
    return data.decode(errors="replace")


def _say(what: str) -> None:
    sys.stderr.write(f"assent: {what}\n")
    sys.stderr.flush()
