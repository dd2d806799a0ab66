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
    AUTH: "no API key for the model, or the key was rejected",
    INPUT: "the command line, the prompt or the name of the model is invalid",
    CONFIG: "the settings file is invalid or cannot be read",
    TURN_LIMIT: "stopped at a limit such as max_turns, or because the model repeated itself",
    BUSY: "the session is open in another process",
    WAITING: "stopped with calls waiting for an answer; resume the session to continue",
    INCOMPLETE: "the model stopped before its reply was complete",
    INSIDE: "refused: only a person may run this, not a process started by Assent",
    STORAGE: "the session log cannot be read or written",
    CANCELLED: "cancelled by the user",
}
