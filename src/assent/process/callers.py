"""Who is at the other end of a connection: an independent program, or one that Assent itself started?

The server asks before it accepts any change, because a command of the agent could find a token and answer the agent's
questions with it. The kernel's connection table identifies the socket at the other end, and its process table the
holder of that socket, whichever address of this machine was used.

A client that has sent a request and disconnected is refused. A holder that we may not inspect (the `sshd` of a tunnel,
another user's browser) is accepted, unless it may be a child of Assent. Connections from other machines are not
checked, and nothing is checked without /proc. It knows nothing about HTTP.
"""

from collections.abc import Iterator

from assent.process import connections, process_table
from assent.process.ancestry import is_child
from assent.process.connections import Address

CHILD = "a program that Assent itself started cannot answer or change anything: use your own browser or terminal"
GONE = "the program that sent this has closed its connection, so it is unknown whether Assent started it"
_MAX_REMEMBERED = 8
_remembered: list[int] = []
"""The most recent callers, newest first: a browser asks again."""


def why_refused(client: Address, server: Address) -> str | None:
    """Why the program at the other end of our connection may change nothing; None if it may."""
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
    """A process that has the socket open; 0 if we may not inspect any of them."""
    found = next((pid for pid in _likely_first() if process_table.holds(pid, f"socket:[{end.inode}]")), 0)
    if found:
        _remembered[:] = [found, *(pid for pid in _remembered if pid != found)][:_MAX_REMEMBERED]
    return found


def _likely_first() -> Iterator[int]:
    yield from list(_remembered)
    yield from sorted(process_table.all_pids(), reverse=True)  # a program that was started for this one request


def _may_hold(pid: int, end: connections.End) -> bool:
    """Also if one of its threads has its own descriptors, or if we may not inspect it."""
    held = [process_table.holds(thread, f"socket:[{end.inode}]", of=pid) for thread in process_table.threads(pid)]
    return any(held) or (None in held and end.uid in process_table.users(pid))
