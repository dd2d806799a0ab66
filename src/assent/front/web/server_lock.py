"""One server per data folder: a second one would overwrite the first one's `serve.json` and its tokens."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assent.app.private_files import make_private, take_lock
from assent.app.session_log import LogUnavailable
from assent.app.terminal_sender import SERVER_LOCK
from assent.front.web.access_tokens import DISCOVERY, Discovery
from assent.safe_open import read_regular


class AlreadyServed(ValueError):
    """A server already uses this data folder; the message says where."""


@contextmanager
def alone(data: Path) -> Generator[None]:
    handle = _lock(data)
    try:
        yield
    finally:
        os.close(handle)


def _lock(data: Path) -> int:
    try:
        make_private(str(data))
        return take_lock(data / SERVER_LOCK)
    except BlockingIOError as error:
        raise AlreadyServed(_where(data)) from error
    except OSError as error:
        raise LogUnavailable(f"cannot use the data folder {data}: {error.strerror}") from error


def _where(data: Path) -> str:
    try:
        found = msgspec.json.decode(read_regular(data / DISCOVERY), type=Discovery)
    except (OSError, msgspec.MsgspecError):
        return "you already have a server running; stop it first"
    return (
        f"you already have a server running at {found.url} (process {found.pid}): `assent serve login` prints an "
        "address to open; or stop it first"
    )
