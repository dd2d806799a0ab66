"""Exit codes: stable, documented in `assent --help`, the same for every front end that ends a process."""

from typing import Final

OK: Final = 0
ERROR: Final = 1
AUTH: Final = 41
INPUT: Final = 42
CONFIG: Final = 52
TURN_LIMIT: Final = 53
BUSY: Final = 56
WAITING: Final = 57
INCOMPLETE: Final = 58
INSIDE: Final = 59
STORAGE: Final = 74
CANCELLED: Final = 130

MEANING: Final = {
    OK: "done",
    ERROR: "the model or Assent itself failed",
    AUTH: "no key for the model, or it was refused",
    INPUT: "the command line or the prompt cannot be used",
    CONFIG: "the settings file cannot be used",
    TURN_LIMIT: "stopped after the largest number of turns, or because the model went in circles",
    BUSY: "the session is open in another process",
    WAITING: "stopped with calls that wait for an answer; resume to go on",
    INCOMPLETE: "the model stopped before its reply was complete",
    INSIDE: "refused: only a person may call this, and Assent itself did",
    STORAGE: "the session log cannot be written or read",
    CANCELLED: "cancelled by the user",
}
