"""Landlock: what a program, and whatever it starts, may read, write and execute, enforced by the kernel.

A rule refers to an open file or folder, not to a name, so replacing a name with a link afterwards gains nothing. A
ruleset restricts only the kinds of access that it handles. Linux 5.13 and later; elsewhere `available` is False. Knows
no policy.
"""

import ctypes
import os
import stat
import struct
import sys
from functools import cache

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_FOLDER = 1 << 3
READ = READ_FILE | READ_FOLDER
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))  # make, remove
_MOVE = 1 << 13
_TRUNCATE = 1 << 14
_MOVES_SINCE, _TRUNCATES_SINCE, _SCOPES_SINCE = 2, 3, 6  # versions
_SCOPES = 0b11
"""Signals, and sockets without a place in the file system, reach only processes with the same restrictions."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE

# The numbers are the same on all architectures, as for all system calls since 2019.
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
def _version() -> int:
    if sys.platform != "linux":
        return 0
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except (OSError, AttributeError):
        return 0


def available() -> bool:
    return _version() >= 1


def can_truncate() -> bool:
    """Whether truncating files can be restricted, so that nothing at all can be written; not before Linux 6.2."""
    return _version() >= _TRUNCATES_SINCE


def can_scope() -> bool:
    """Whether signals can be restricted; not before Linux 6.12."""
    return _version() >= _SCOPES_SINCE


def can_move() -> bool:
    """Whether a restricted program can be allowed to move files between folders; not before Linux 5.19."""
    return _version() >= _MOVES_SINCE


def write() -> int:
    """All rights to change files and folders that this kernel knows."""
    moves = _MOVE if can_move() else 0
    return WRITE_FILE | _CHANGE_FOLDERS | moves | (_TRUNCATE if _version() >= _TRUNCATES_SINCE else 0)


class Ruleset:
    """What is allowed; any other access of the kinds `bound` fails. `scoped`: it reaches no process outside."""

    def __init__(self, bound: int = READ, *, scoped: bool = False) -> None:
        handled = struct.pack("=QQQ", bound, 0, _SCOPES) if scoped and can_scope() else struct.pack("=Q", bound)
        self._bound = bound
        self._fd = _call(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint32(0))

    def allow(self, descriptor: int, rights: int) -> None:
        """The file, or the folder with everything below it, whatever its name becomes."""
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = struct.pack("=Qi", rights & self._bound & (-1 if folder else _OF_FILES), descriptor)
        _call(_ADD_RULE, ctypes.c_int(self._fd), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))

    def restrict_thread(self) -> None:
        """From now on this thread, and everything it starts, is restricted. This cannot be undone."""
        if _libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs could not be set")
        _call(_RESTRICT_SELF, ctypes.c_int(self._fd), ctypes.c_uint32(0))

    def close(self) -> None:
        os.close(self._fd)
