"""Was this process started by Assent? The agent must not answer its own questions, so its own processes must be
recognized.

Three signs, of which one is enough:

* **Ancestors.** Every command runs below a reaper, and processes that lose their parent become the reaper's children:
  `nohup`, `setsid`, a double fork and `env -i` do not change that. The reaper is recognized by its command line.
* **Hard limits.** The supervisor lowers two that have no effect (`LIMITS`). They are inherited, and no unprivileged
  process can raise them again, not even one that killed supervisor and reaper to get rid of its ancestors. Nobody else
  sets both of them. Root can raise them.
* **The environment.** The mark by which families are found; easily cleared, and the only sign without /proc.

A program that another daemon starts for the child (cron, systemd, ssh to this machine) is not detected. This module
imports next to nothing and reads a few small files, because every start of Assent runs it.
"""

import os
from _collections_abc import Iterator, Mapping

from assent.process import process_table

MARKER = "ASSENT_RUN"
"""The variable that marks a family. Inside another run it also names the outer one."""
TITLE = "assent-supervisor"
"""The last word of the supervisor's command line, and of every reaper's."""
LIMITS = {10: 0x4153534E54 << 20, 15: 0x4153534E54 << 21}
"""RLIMIT_LOCKS, which the kernel no longer uses, and RLIMIT_RTTIME, so high that it means nothing."""


def is_inside(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process is a descendant of Assent, however distant."""
    environment = os.environ if environment is None else environment
    return MARKER in environment or _has_limits() or _has_reaper(os.getppid())


def is_child(pid: int) -> bool:
    """Whether another process is one. A sign that we carry ourselves says nothing about it."""
    if (above := set(_reapers(pid))) and not above <= set(_reapers(os.getpid())):
        return True
    if MARKER.encode() in process_table.variables(pid) and MARKER not in os.environ:
        return True
    return _has_limits(pid) and not _has_limits()


def mark_limits() -> None:
    """For the calling process, and everything it will start."""
    import resource

    for number, value in LIMITS.items():
        try:
            resource.setrlimit(number, (value, value))
        except (OSError, ValueError):
            continue  # there is already a lower one, or no such limit


def _has_limits(pid: int = 0) -> bool:
    """This process, or another one that we may inspect."""
    try:
        import resource

        hard = {number: resource.prlimit(pid, number)[1] for number in LIMITS}
    except (ImportError, AttributeError, OSError, ValueError):
        return False
    return all(0 <= hard[number] <= value for number, value in LIMITS.items())


def _has_reaper(pid: int) -> bool:
    return any(_reapers(pid))


def _reapers(pid: int) -> Iterator[int]:
    """And supervisors: the process itself and its ancestors."""
    return (above for above in process_table.ancestors(pid) if process_table.words(above)[-1:] == [TITLE.encode()])
