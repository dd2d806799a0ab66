"""Recognizes from its output that a command met a limit of overlays, which a full copy of the workspace does not have.

Programs say it in the words of the system, in the language of the person; some also name the error.
"""

import ctypes
import errno
import functools
import os

_LIMITS = {
    errno.EXDEV: "In an overlay, folders of the workspace cannot be renamed.",
    errno.EOVERFLOW: "In an overlay, files that belong to another user or group cannot be changed.",
}
_MESSAGES_MASK = 1 << 5
"""LC_MESSAGES_MASK of the C library of Linux."""


def overlay_limit(output: str) -> str:
    """In words for the person; empty if it met none."""
    said = output.lower()
    return next((text for code, text in _LIMITS.items() if any(word in said for word in _words(code))), "")


@functools.cache
def _words(code: int) -> tuple[str, ...]:
    names = (errno.errorcode[code], os.strerror(code), _localized(code))
    return tuple(name.lower() for name in names if name)


def _localized(code: int) -> str:
    """As programs in the person's language say it."""
    try:
        libc = ctypes.CDLL(None)
        libc.newlocale.restype, libc.newlocale.argtypes = (
            ctypes.c_void_p,
            (ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p),
        )
        libc.strerror_l.restype, libc.strerror_l.argtypes = ctypes.c_char_p, (ctypes.c_int, ctypes.c_void_p)
        place = libc.newlocale(_MESSAGES_MASK, b"", None)
        return (libc.strerror_l(code, place) or b"").decode(errors="replace") if place else ""
    except (OSError, AttributeError):
        return ""
