"""Tells the model about a command that asked for input: that the user typed it, or that nobody could.

What was typed is unknown here. The signs of a missing terminal are messages of well-known programs.
"""

import re

from assent.process.run_program import ProcessFinished

_NO_TERMINAL = re.compile(
    r"terminal is required to (?:read the password|authenticate)|no tty present|a password is required"
    r"|could not read (?:Username|Password) for|Host key verification failed|can't open /dev/tty"
    r"|terminal prompts disabled|No such device or address|not a tty|\bEOFError\b"
    r"|Do you want to continue\? \[Y/n\] Abort",
    re.IGNORECASE,
)
_TAIL = 5_000


def input_notes(finished: ProcessFinished, typed: int | None) -> list[str]:
    """`typed`: how many times the user typed something; None if nobody could."""
    if typed:
        return ["The user typed input for this command; it is not shown."]
    if finished.ended == "no_input":
        return ["Use options that keep it from asking, or tell the user what to run."]
    if finished.code != 0 and _NO_TERMINAL.search(finished.output.text()[-_TAIL:]):
        return [
            "The command probably asked for input, and got none. Use options that keep it from asking, or tell the "
            "user what to run."
        ]
    return []
