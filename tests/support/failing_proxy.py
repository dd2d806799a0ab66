"""A proxy between Assent and a real server that breaks replies in the middle: cut, silent, or with a dead server.

It passes bytes on until a mark has come, such as the name of a tool inside a call, and then fails in one of these ways:

    cut      the connection is closed
    stall    nothing more comes, until the client leaves
    kill     the server is killed; whatever happens then is its own doing
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, Self
from urllib.parse import urlsplit

Failure = Literal["cut", "stall", "kill"]
BLOCK = 65_536


class FailingProxy:
    """Breaks the first `times` connections on which the mark comes, and passes everything on after that."""

    def __init__(
        self, target: str, mark: bytes, how: Failure, *, times: int = 1, kill: Callable[[], None] = lambda: None
    ) -> None:
        self._target = (urlsplit(target).hostname, urlsplit(target).port)
        self._mark, self._how, self._left, self._kill = mark, how, times, kill
        self.broken = threading.Event()
        """Set when it has failed for the first time."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(self._target) as server:
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            try:
                self._answer(server, client)
            finally:
                client.shutdown(socket.SHUT_RDWR)  # closing it does not end the other thread's `recv`

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        """`seen` is the end of what has been passed on, in case the mark comes in two blocks."""
        seen = b""
        while block := server.recv(BLOCK):
            known = len(seen)
            seen += block
            place = seen.find(self._mark) if self._left else -1
            if place < 0:
                client.sendall(block)
                seen = seen[-len(self._mark) :]
                continue
            self._left -= 1
            client.sendall(seen[known : max(known, place + len(self._mark))])
            if not self._goes_on(client):
                return
            seen = b""

    def _goes_on(self, client: socket.socket) -> bool:
        """Fail; whether there is more to pass on."""
        if self._how == "kill":
            self._kill()
        self.broken.set()
        while self._how == "stall" and client.recv(BLOCK):
            pass
        return self._how == "kill"


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(BLOCK):
            target.sendall(block)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
