"""Reads a configuration file as it is: a regular file, not through a link, and not too large."""

import os

from assent.safe_open import SIZE_LIMIT, NotRegular, read_regular


class NotPlain(Exception):
    """It is a link, a device, a pipe, too large, or cannot be read; the message says which."""


def read_plain(path: str | os.PathLike[str], limit: int = SIZE_LIMIT) -> bytes:
    """Raises FileNotFoundError if there is nothing, NotPlain for anything but a regular file."""
    try:
        return read_regular(path, limit, follow=False)
    except FileNotFoundError:
        raise
    except NotRegular as error:
        why = (error.strerror or "").removeprefix("it ")
        raise NotPlain(f"{os.fspath(path)} {why}") from error
    except OSError as error:
        raise NotPlain(f"{os.fspath(path)} is a link or cannot be read: {error.strerror}") from error
