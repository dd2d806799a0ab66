"""What comes on standard input, without ever waiting in silence.

A program that starts us may leave our input open and never write to it. Nobody could tell that from a slow command in
front of a pipe, unless the system says who else holds that pipe.
"""

import select
import sys

from assent.cli.parsing import BadInput

LIMIT = 8_000_000
NOTICE_AFTER = 3.0
"""Seconds until a person hears that something is waited for."""


def read_input(*, needed: bool) -> str:
    """`needed`: there is no prompt without it, so it is waited for. Raises BadInput."""
    if not _comes(NOTICE_AFTER):
        if not needed and not _has_producer():
            _say(f"nothing came on standard input for {NOTICE_AFTER:.0f} s, so it is left out; `-p -` waits for it")
            return ""
        _say("waiting for standard input; Ctrl-C stops")
    return _text(sys.stdin.buffer.read(LIMIT + 1))


def _comes(seconds: float) -> bool:
    """Whether there is something to read, or the end of it."""
    try:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    except (OSError, ValueError):  # nothing that can be waited for: a file
        return True


def _has_producer() -> bool:
    from assent.process.pipes import has_producer

    try:
        return has_producer(sys.stdin.fileno())
    except (OSError, ValueError):
        return False


def _text(data: bytes) -> str:
    if len(data) > LIMIT:
        raise BadInput(f"standard input is longer than {LIMIT:,} bytes; put it into a file and name that")
    if b"\0" in data:
        raise BadInput("standard input is not text")
    return data.decode(errors="replace")


def _say(what: str) -> None:
    sys.stderr.write(f"assent: {what}\n")
    sys.stderr.flush()
