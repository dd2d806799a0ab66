"""The proxy's port in a sandbox: a program inside opens it on the loopback and passes it out.

The sandbox has a network namespace of its own, with nothing but loopback. A socket belongs to the namespace in which it
was created, not to that of the process that uses it. So a few lines of Python create the port inside, pass it out
through a unix socket that is mounted into the sandbox, and then become the command. Connections to it are accepted out
here: no process has to forward them, and the sandbox has no other way out.
"""

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress

PORT = 3128
"""On the sandbox's own loopback, which it shares with nobody."""
INSIDE = "/run/assent-network"
"""Where the unix socket is in the sandbox."""
_PREFIX = "network-"
_OPENER = """
import os, sys, _signal as signal
from _socket import AF_INET, AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, SO_REUSEADDR, socket
path, port, *argv = sys.argv[1:]
try:
    listening, out = socket(AF_INET, SOCK_STREAM), socket(AF_UNIX, SOCK_STREAM)
    listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(port)))
    listening.listen(256)
    out.connect(path)
    out.sendmsg([b"+"], [(SOL_SOCKET, SCM_RIGHTS, listening.fileno().to_bytes(4, sys.byteorder))])
    out.recv(1)
except OSError as error:
    sys.exit("the network of the sandbox could not be set up: %s" % error)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(argv[0], argv)
except OSError as error:
    sys.stderr.write("%s: %s\\n" % (argv[0], error.strerror))
    sys.exit(127)
"""


class SandboxPort:
    """The unix socket of one sandbox. It must be closed."""

    def __init__(self, folder: str) -> None:
        """`folder` is private. Raises OSError."""
        _remove_left(folder)
        self.path = os.path.join(folder, f"{_PREFIX}{os.getpid()}-{secrets.token_hex(6)}")
        self._waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _bind(self._waiting, self.path)
            self._waiting.listen(1)
            self._waiting.setblocking(False)
        except BaseException:
            self.close()
            raise

    async def listening(self) -> socket.socket:
        """The port inside, once it is open. No second one is accepted."""
        loop = asyncio.get_running_loop()
        connection, _ = await loop.sock_accept(self._waiting)
        self.close()
        with connection:
            connection.setblocking(False)
            await _readable(connection)
            _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
            if not descriptors:
                raise ConnectionResetError("the sandbox did not hand over its port")
            connection.send(b"+")
        return socket.socket(fileno=descriptors[0])

    def close(self) -> None:
        self._waiting.close()
        with suppress(OSError):
            os.unlink(self.path)


def opener_argv() -> tuple[str, ...]:
    """The words before those of a command: they open the port, pass it out and become the command."""
    return (sys.executable, "-I", "-S", "-c", _OPENER, INSIDE, str(PORT))


def proxy_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The variables by which programs find the proxy. The same port also speaks SOCKS5, but many programs fail if
    `all_proxy` says so.
    """
    address = f"http://127.0.0.1:{PORT}"
    both = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"), address)
    both |= {"no_proxy": "localhost,127.0.0.1,::1"}
    given = env.get("JAVA_TOOL_OPTIONS", "")
    java = [f"-D{scheme}.proxy{key}" for scheme in ("http", "https") for key in ("Host=127.0.0.1", f"Port={PORT}")]
    others = {"YARN_HTTP_PROXY": address, "YARN_HTTPS_PROXY": address, "NODE_USE_ENV_PROXY": "1"}
    others |= {"JAVA_TOOL_OPTIONS": " ".join([*([given] if given else []), *java])}
    return both | {name.upper(): value for name, value in both.items()} | others


def _bind(sock: socket.socket, path: str) -> None:
    """The address of a unix socket has at most 107 bytes; the path of its folder may be longer."""
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sock.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


async def _readable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sock, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sock)


def _remove_left(folder: str) -> None:
    """Removes what killed processes left behind."""
    for name in os.listdir(folder):
        pid = name.removeprefix(_PREFIX).partition("-")[0]
        if name.startswith(_PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
