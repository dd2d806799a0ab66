"""One server for a data folder: a second one would take the place of the first in `serve.json`, and its tokens."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assent.app.private_files import make_private, take_lock
from assent.app.session_log import LogUnavailable
from assent.front.web.access_tokens import DISCOVERY, Discovery
from assent.safe_open import read_regular

LOCK = "serve.lock"


class AlreadyServed(ValueError):
    """A server is at work on this folder; the message says where."""


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
        return take_lock(data / LOCK)
    except BlockingIOError as error:
        raise AlreadyServed(_where(data)) from error
    except OSError as error:
        raise LogUnavailable(f"cannot use the data folder {data}: {error.strerror}") from error


def _where(data: Path) -> str:
    try:
        found = msgspec.json.decode(read_regular(data / DISCOVERY), type=Discovery)
    except (OSError, msgspec.MsgspecError):
        return "a server of yours is running already; stop it first"
    return (
        f"a server of yours is running already at {found.url} (process {found.pid}): press Enter there for an address "
        "to open, or stop it first"
    )
