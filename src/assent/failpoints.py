"""Named places where a test may kill the process, so that every crash the design speaks of can be rehearsed.

Off unless ASSENT_FAILPOINTS names a file: then every hit appends its name there, and the one whose running number
equals ASSENT_FAILPOINT_KILL ends the process at once, as `kill -9` would.
"""

import os

_trace = os.environ.get("ASSENT_FAILPOINTS")
_kill_at = int(os.environ.get("ASSENT_FAILPOINT_KILL", "0"))
_hits = 0


def hit(name: str) -> None:
    if _trace is not None:
        _record(_trace, name)


def _record(trace: str, name: str) -> None:
    global _hits
    _hits += 1
    with open(trace, "a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    if _hits == _kill_at:
        os.kill(os.getpid(), 9)
