"""The kernel's process table (/proc), as plain numbers. It imports next to nothing, because the supervisor uses it."""

import os
from _collections_abc import Iterator

STATE, PARENT, GROUP, SESSION, STARTED, PAGES = 0, 1, 2, 3, 19, 21
"""Field positions in a line, after the name."""


def line(pid: int) -> list[bytes] | None:
    """The fields of a process after its name; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return file.read(1024).rpartition(b")")[2].split()
    except OSError:
        return None


def is_dead(fields: list[bytes]) -> bool:
    """It has ended, but nobody has reaped it yet."""
    return fields[STATE] in (b"Z", b"X")


def all_pids() -> list[int]:
    """Empty if there is no such table."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def below(root: int, session: int = 0) -> list[int]:
    """The living descendants of a process, and the members of a session that one of them created."""
    lines = {pid: fields for pid in all_pids() if (fields := line(pid))}
    children: dict[int, list[int]] = {}
    for pid, fields in lines.items():
        children.setdefault(int(fields[PARENT]), []).append(pid)
    start = [pid for pid, fields in lines.items() if session and int(fields[SESSION]) == session]
    found: set[int] = set()
    look = [*children.get(root, ()), *start]
    while look:
        pid = look.pop()
        if pid not in found and pid != root:
            found.add(pid)
            look += children.get(pid, ())
    return [pid for pid in found if not is_dead(lines[pid])]


def words(pid: int) -> list[bytes]:
    """The command line of a process; empty if it cannot be read."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            return file.read(1 << 16).split(b"\0")[:-1]
    except OSError:
        return []


def ancestors(pid: int) -> Iterator[int]:
    """The process itself and all its ancestors."""
    while pid > 0:
        yield pid
        fields = line(pid)
        pid = int(fields[PARENT]) if fields else 0


def writes_to(pid: int, name: str) -> bool:
    """Whether it holds this pipe or terminal open for writing, by its kernel name."""
    links = (f"/proc/{pid}/fd/{number}" for number in _descriptors(f"/proc/{pid}/fd") or ())
    return any(_leads_to(link, name) and _is_writable(link) for link in links)


def _is_writable(link: str) -> bool:
    try:
        return bool(os.lstat(link).st_mode & 0o200)
    except OSError:
        return False


def holds(pid: int, name: str, *, of: int = 0) -> bool | None:
    """Whether it has this open, by its kernel name; None if we may not inspect it. `of`: the process of a thread."""
    folder = f"/proc/{of}/task/{pid}/fd" if of else f"/proc/{pid}/fd"
    found = _descriptors(folder)
    return None if found is None else any(_leads_to(f"{folder}/{number}", name) for number in found)


def _descriptors(folder: str) -> list[str] | None:
    """None if we may not inspect it."""
    try:
        return os.listdir(folder)
    except PermissionError:
        return None
    except OSError:
        return []


def _leads_to(link: str, name: str) -> bool:
    try:
        return os.readlink(link) == name
    except OSError:
        return False


def threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def users(pid: int) -> set[int]:
    """The real, effective, saved and file system ids."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return next({int(number) for number in line.split()[1:]} for line in file if line.startswith(b"Uid:"))
    except (OSError, StopIteration):
        return set()


def variables(pid: int) -> list[bytes]:
    """The names of its initial variables; empty if we may not inspect it."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return [pair.partition(b"=")[0] for pair in file.read(1 << 20).split(b"\0")]
    except OSError:
        return []
