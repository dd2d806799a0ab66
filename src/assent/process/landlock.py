"""Landlock: what a program, and whatever it starts, may open for reading, kept by the kernel.

A rule is about a file or a folder that is open, not about a name, so whoever exchanges a name for a link afterwards
gains nothing. Only reading is bound. Linux 5.13 and later; elsewhere `available` says no. Knows no policy.
"""

import ctypes
import os
import struct
import sys
from functools import cache

READ_FILE = 1 << 2
READ_FOLDER = 1 << 3
READ = READ_FILE | READ_FOLDER

# The numbers are the same on all architectures: system calls since 2019 are.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    found = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return found


@cache
def available() -> bool:
    if sys.platform != "linux":
        return False
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)) >= 1
    except (OSError, AttributeError):
        return False


class Ruleset:
    """What may be read; everything that is not allowed here cannot be opened."""

    def __init__(self) -> None:
        handled = struct.pack("=Q", READ)
        self._fd = _call(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint32(0))

    def allow(self, descriptor: int, rights: int) -> None:
        """The file, or the folder with all that is below, whatever its name is then."""
        rule = struct.pack("=Qi", rights, descriptor)
        _call(_ADD_RULE, ctypes.c_int(self._fd), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))

    def restrict_thread(self) -> None:
        """From now on this thread, and what it starts, is bound. There is no way back."""
        if _libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs could not be set")
        _call(_RESTRICT_SELF, ctypes.c_int(self._fd), ctypes.c_uint32(0))

    def close(self) -> None:
        os.close(self._fd)
