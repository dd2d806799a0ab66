"""A program that restricts itself with Landlock and seccomp, and then becomes the one it is given.

It reads what is allowed from the descriptor `reaper.INPUTS`, and a seccomp filter from the next one. Like bubblewrap,
it is a launcher, and reports to `reaper.STATUS` that the program was started. Knows nothing about profiles.
"""

import ctypes
import json
import os
import signal
import struct
import sys

from assent.process import landlock
from assent.process.reaper import INPUTS, STATUS

_SECCOMP, _FILTER, _DROP_CAPABILITY = 22, 2, 24
_CAPABILITIES = 64
_INSTRUCTION = 8
"""Bytes of one instruction of a filter."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATH = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


def main() -> None:
    try:
        _drop_capabilities()
        _restrict(json.loads(_input(0)))
        _filter(_input(1))
    except OSError as error:
        sys.exit(f"landlock: {error}")
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.write(STATUS, b'{"exit-code": 0}')  # it cannot tell the real one, because it becomes the program
    os.close(STATUS)
    argv = sys.argv[1:]
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        os._exit(127)


def _input(at: int) -> bytes:
    with os.fdopen(INPUTS + at, "rb") as file:
        return file.read()


def _restrict(allowed: dict[str, list[str]]) -> None:
    rights = {
        "read": landlock.READ | landlock.EXECUTE,
        "list": landlock.READ_FOLDER,
        "write": landlock.READ | landlock.WRITE_FILE,
    }
    rules = landlock.Ruleset(landlock.READ | landlock.EXECUTE | landlock.write(), scoped=True)
    for kind, paths in allowed.items():
        for path in paths:
            _allow(rules, path, rights[kind])
    rules.restrict_thread()
    rules.close()


def _allow(rules: landlock.Ruleset, path: str, rights: int) -> None:
    """What no longer exists needs no rule."""
    try:
        descriptor = os.open(path, _PATH)
    except OSError:
        return
    try:
        rules.allow(descriptor, rights)
    finally:
        os.close(descriptor)


def _drop_capabilities() -> None:
    """With these capabilities, root could inspect other processes in spite of Landlock. Nobody else has any to drop."""
    libc = ctypes.CDLL(None)
    for number in range(_CAPABILITIES):
        libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0)


def _filter(data: bytes) -> None:
    if not data:
        return
    code = ctypes.create_string_buffer(data, len(data))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(data) // _INSTRUCTION, ctypes.addressof(code)))
    if ctypes.CDLL(None, use_errno=True).prctl(_SECCOMP, _FILTER, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the seccomp filter could not be set")
