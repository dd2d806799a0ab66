"""Named places where a test may kill the process, so that every crash in the design can be rehearsed.

Off unless ASSENT_FAILPOINTS names a file: then every hit appends its name there, and the hit whose name or sequence
number is in ASSENT_FAILPOINT_KILL ends the process at once, as `kill -9` would.
"""

import os

_trace = os.environ.get("ASSENT_FAILPOINTS")
_kill_at = os.environ.get("ASSENT_FAILPOINT_KILL")
_hits = 0


def hit(name: str) -> None:
    if _trace is not None:
        _record(_trace, name)


def _record(trace: str, name: str) -> None:
    global _hits
    _hits += 1
    with open(trace, "a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    if _kill_at in (name, str(_hits)):
        os.kill(os.getpid(), 9)
