"""Recognizes that a command failed because it reached one of its limits, and tells the model which one.

The signs are messages of the system; a program may print them for other reasons, so the note says "probably".
"""

import re
import signal

from assent.config import CommandLimits
from assent.process.run_program import ProcessFinished

_SIGNS = (
    (
        "processes",
        re.compile(r"fork: (?:retry|Resource)|can(?:no|')t fork|Resource temporarily unavailable", re.I),
    ),
    ("file_mb", re.compile(r"File too large|\bEFBIG\b|File size limit exceeded", re.I)),
    ("open_files", re.compile(r"Too many open files|\bEMFILE\b", re.I)),
)
_TAIL = 5_000
_SHELL_SIGNAL = 128
"""A shell reports the end by signal n as this plus n."""


def limit_notes(finished: ProcessFinished, limits: CommandLimits) -> list[str]:
    if finished.code == 0 or finished.ended != "exited":
        return []
    name = _reached(finished)
    if not name or not (limit := getattr(limits, name)):
        return []
    return [f"The command probably reached a limit: {name} = {limit} in the section [commands] of the user's settings."]


def _reached(finished: ProcessFinished) -> str:
    if signal.SIGXFSZ in (finished.signal, (finished.code or 0) - _SHELL_SIGNAL):
        return "file_mb"
    output = finished.output.text()[-_TAIL:]
    return next((name for name, sign in _SIGNS if sign.search(output)), "")
