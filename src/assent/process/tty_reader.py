"""Whether a process is reading from a terminal right now, as the kernel sees it. Unknown outside Linux."""

import os
import platform

from assent.process import process_table

_TERMINAL = 4
"""The field of a process's line that has the number of its controlling terminal."""
_READS = {"x86_64": (b"0", b"19"), "aarch64": (b"63", b"65")}.get(platform.machine(), ())
"""The numbers of the system calls `read` and `readv`."""
_OWN_TERMINAL = os.makedev(5, 0)
"""`/dev/tty`, which stands for whatever terminal a process has."""


def reads_terminal(device: int) -> bool | None:
    """Whether a process waits for input from the terminal with this device number, which is its own. None if that is
    unknown, because a process belongs to someone else (`sudo`), or because the system does not say.
    """
    seen = [_reads(pid, device) for pid in process_table.all_pids() if _is_on(pid, device)]
    return True if True in seen else None if None in seen or not seen else False


def _is_on(pid: int, device: int) -> bool:
    fields = process_table.line(pid)
    return fields is not None and int(fields[_TERMINAL]) == device and not process_table.is_dead(fields)


def _reads(pid: int, device: int) -> bool | None:
    if not _READS:
        return None
    try:
        return any(_thread_reads(pid, thread, device) for thread in os.listdir(f"/proc/{pid}/task"))
    except PermissionError:
        return None
    except OSError:  # it has just exited
        return False


def _thread_reads(pid: int, thread: str, device: int) -> bool:
    with open(f"/proc/{pid}/task/{thread}/syscall", "rb", buffering=0) as file:
        number, *arguments = file.read(200).split()
    if number not in _READS or not arguments:
        return False
    return os.stat(f"/proc/{pid}/fd/{int(arguments[0], 16)}").st_rdev in (device, _OWN_TERMINAL)
