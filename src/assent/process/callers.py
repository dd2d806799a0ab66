"""Who is at the other end of a connection: somebody's own program, or one that Assent itself started?

The server asks before it lets anybody change anything, because a command of the agent could find a token and answer the
agent's questions with it. The kernel's table of connections names the socket at the other end, and its table of
processes who holds that socket, whichever address of this machine was used.

Whoever has sent a request and gone is refused. A holder that we may not look into (the `sshd` of a tunnel, another
user's browser) is let through, unless a child of Assent may be it. Connections from other machines are not looked at,
nor is anything where there is no /proc. It knows nothing of HTTP.
"""

from collections.abc import Iterator

from assent.process import connections, process_table
from assent.process.ancestry import is_child
from assent.process.connections import Address

CHILD = "a program that Assent itself started cannot answer or change anything: use your own browser or terminal"
GONE = "the program that sent this has closed its connection, so nobody can tell whether Assent started it"
_MAX_REMEMBERED = 8
_remembered: list[int] = []
"""The processes that asked last, the newest first: a browser asks again."""


def why_refused(client: Address, server: Address) -> str | None:
    """Why the program at the other end of our connection may change nothing; None when it may."""
    if not connections.available():
        return None
    end = connections.far_end(client, server)
    if end is None:
        return GONE if connections.is_here(client[0]) else None
    if not end.inode:
        return GONE
    if holder := _holder(end):
        return CHILD if is_child(holder) else None
    if any(_may_hold(pid, end) for pid in process_table.all_pids() if is_child(pid)):
        return CHILD
    return None if connections.far_end(client, server) == end else GONE


def _holder(end: connections.End) -> int:
    """A process that has the socket open; 0 when none of those is one that we may look into."""
    found = next((pid for pid in _likely_first() if process_table.holds(pid, f"socket:[{end.inode}]")), 0)
    if found:
        _remembered[:] = [found, *(pid for pid in _remembered if pid != found)][:_MAX_REMEMBERED]
    return found


def _likely_first() -> Iterator[int]:
    yield from list(_remembered)
    yield from sorted(process_table.all_pids(), reverse=True)  # a program that was started for this one request


def _may_hold(pid: int, end: connections.End) -> bool:
    """Also when one of its threads has descriptors of its own, or when it does not let us look."""
    held = [process_table.holds(thread, f"socket:[{end.inode}]", of=pid) for thread in process_table.threads(pid)]
    return any(held) or (None in held and end.uid in process_table.users(pid))
