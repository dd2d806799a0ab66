"""Recognizes in the output of a failed command that the sandbox refused something, and tells the model what to do.

The signs are messages of the system; a program may print them for other reasons, so the note says "probably".
"""

import re

from assent.plan import SandboxName
from assent.process.run_program import ProcessFinished

_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("write", r"read-only file ?system|\bEROFS\b|os error 30"),
        ("write", r"device or resource busy|\bEBUSY\b"),
        ("network", r"network is unreachable|\bENETUNREACH\b|could(?:n't| not) resolve|name resolution|\bEAI_AGAIN\b"),
        ("network", r"\bENOTFOUND\b|name or service not known|no route to host|address family not supported"),
        ("read", r"permission denied|\bEACCES\b"),
    )
)
_PATH = re.compile(r"(?:^|[\s'\"`:(])((?:~|\.{0,2})/[^\s'\"`:)]+|\.[\w.-]+)")
_TAIL = 20_000


def sandbox_notes(finished: ProcessFinished, name: SandboxName) -> list[str]:
    if finished.never_ran:
        return ["The sandbox could not be set up, so the command did not run."]
    if name == "off" or finished.code == 0:
        return []
    refused = _refused(finished.output.text()[-_TAIL:])
    return [_note(name, *refused)] if refused else []


def _refused(output: str) -> tuple[str, str] | None:
    """What was refused and, if a line names it, the path."""
    for line in reversed(output.splitlines()):
        for what, sign in _SIGNS:
            if (found := sign.search(line)) is not None:
                return what, "" if what == "network" else _last_path(line[: found.start()])
    return None


def _last_path(text: str) -> str:
    """Programs name the path right before what is wrong with it; themselves before that."""
    found: list[str] = _PATH.findall(text)
    return found[-1] if found else ""


def _note(name: SandboxName, what: str, path: str) -> str:
    match what:
        case "network":
            refused, wider = "the network", "network"
        case "write":
            refused, wider = f"writing to {path}" if path else "writing to a file", "off"
        case _:
            refused, wider = f"opening {path}" if path else "opening a file", "off"
    return (
        f"The command ran in the sandbox `{name}`, which probably refused {refused}. If the task needs that, call "
        f'again with sandbox="{wider}"; the user is asked.'
    )
