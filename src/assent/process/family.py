"""Who belongs to a child we started: everything below its reaper, its group and session, and processes that slipped
away.

A process that forks twice, creates its own session and clears everything becomes a child of the reaper. Without a
reaper, or after it was killed, two traces remain: the marker in the initial environment, and our pipe, which it may
still hold. Without /proc only the group is known.
"""

import os

from msgspec import Struct

from assent.process import process_table
from assent.process.files_in_memory import files_in_memory

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Seen(Struct, frozen=True, gc=False):
    """A line of the process table."""

    parent: int
    group: int
    session: int
    started: int
    pages: int
    """Memory that it uses now."""


class Family:
    def __init__(self, leader: int, mark: str, channel: str, reaper: int = 0, since: int = 0) -> None:
        """`since`: when the leader was started; looked up if unknown, while it has not been reaped."""
        self._leader = leader
        self._reaper = reaper
        self._mark = mark.encode()
        self._channel = channel
        seen = None if since else _look(leader, even_dead=True)
        self._since = seen.started if seen else since

    def members(self) -> list[int]:
        """All living members; zombies do not count."""
        young = self._young()
        if young is None:
            return [self._leader] if _group_lives(self._leader) else []
        found = {pid for pid, seen in young.items() if self._is_ours(pid, seen)}
        return sorted(_with_descendants(found, young))

    def memory(self, enough: int = 0) -> int:
        """In bytes, of those that have not slipped away: faster to find, and enough for a regular check.

        Shared memory counts for each of them as long as the sum is no more than `enough`. Otherwise it is counted once,
        which takes longer. What they keep in files in memory counts as well.
        """
        young = self._young() or {}
        found = _with_descendants({pid for pid, seen in young.items() if self._is_near(pid, seen)}, young)
        files = files_in_memory(found)
        rough = files + sum(young[pid].pages for pid in found) * _PAGE
        return rough if rough <= enough else files + sum(_share(pid, young[pid].pages * _PAGE) for pid in found)

    def _young(self) -> dict[int, Seen] | None:
        """Nothing older than the leader belongs to the family, whatever it holds: an earlier terminal multiplexer may
        have been handed our pipe.
        """
        seen_now = _process_table()
        return seen_now and {pid: seen for pid, seen in seen_now.items() if seen.started >= self._since}

    def any_alive(self, pids: list[int]) -> bool:
        """Whether one of these is still alive; without a process table, whether anyone in the group is."""
        if os.path.isdir("/proc/self"):
            return any(_look(pid) for pid in pids)
        return _group_lives(self._leader)

    def _is_ours(self, pid: int, seen: Seen) -> bool:
        if self._is_near(pid, seen):
            return True
        # Only for writing: a child of ours between fork and exec still has our reading end.
        return self._mark in _environment(pid) or process_table.writes_to(pid, self._channel)

    def _is_near(self, pid: int, seen: Seen) -> bool:
        return self._leader in (pid, seen.group, seen.session) or 0 < self._reaper == seen.parent


def nested_mark(token: str, around: str | None) -> str:
    """Inside another run the outer token stays in the mark, so that the outer family includes this one."""
    return f"{around}:{token}" if around else token


def _with_descendants(found: set[int], among: dict[int, Seen]) -> set[int]:
    while more := {pid for pid, seen in among.items() if seen.parent in found and pid not in found}:
        found |= more
    return found


def _process_table() -> dict[int, Seen] | None:
    pids = process_table.all_pids()
    if not pids:
        return None
    me = os.getpid()
    return {pid: seen for pid in pids if pid != me and (seen := _look(pid))}


def _look(pid: int, *, even_dead: bool = False) -> Seen | None:
    fields = process_table.line(pid)
    if fields is None or (process_table.is_dead(fields) and not even_dead):
        return None
    return Seen(
        *(
            int(fields[at])
            for at in (
                process_table.PARENT,
                process_table.GROUP,
                process_table.SESSION,
                process_table.STARTED,
                process_table.PAGES,
            )
        )
    )


def _share(pid: int, otherwise: int) -> int:
    """Its memory in bytes, counting only its share of what it shares with others."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:"))
    except (OSError, StopIteration):
        return otherwise


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            return file.read(1 << 20)
    except OSError:
        return b""


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
