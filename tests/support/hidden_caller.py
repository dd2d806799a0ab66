"""A program for root: takes a connection from one who lets nobody look into its process, and prints why it is refused.

With `inside`, a supervisor starts that one, as it does for a child of Assent; otherwise we do. Both give up their
privileges: the one who looks may look no further than the one who is looked at.
"""

import asyncio
import ctypes
import os
import socket
import sys

from assent.process import callers, supervisor_client

_SET_DUMPABLE = 4


def connect(port: int) -> None:
    libc = ctypes.CDLL(None)
    become_nobody()
    libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    connection = socket.socket()
    connection.connect(("127.0.0.1", port))
    connection.recv(1)


def become_nobody() -> None:
    os.setgid(65534)
    os.setuid(65534)


def look(inside: bool) -> None:
    assert not callers.is_child(1)
    listener = socket.create_server(("127.0.0.1", 0))
    argv = [sys.executable, "-m", "support.hidden_caller", "connect", str(listener.getsockname()[1])]
    child = start(argv, inside)
    become_nobody()
    accepted, client = listener.accept()
    sys.stdout.write(f"{callers.why_refused(client, accepted.getsockname())}\n")
    del child  # not before: one who is let go of is ended


def start(argv: list[str], inside: bool) -> object:
    env = {"PYTHONPATH": os.environ["PYTHONPATH"]}
    if not inside:
        return os.posix_spawn(argv[0], argv, env)
    null = os.open(os.devnull, os.O_RDWR)
    return asyncio.run(supervisor_client.start(argv, "/", env, "", (null, null, null)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["connect", port]:
            connect(int(port))
        case words:
            look(inside=words == ["inside"])
