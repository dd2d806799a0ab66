"""What the proxy of a sandbox costs: a large download through it and without it, and a small request.

Server and client are processes of their own, the same for both ways. With two cores, three processes share them, so the
ratio is worse than on a larger machine.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator

from assent.proxy.proxy_server import Proxy
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination
from bench.measure import interleaved
from bench.report import Row

MEGABYTES = 300
MAX_RATIO = 3.0
"""How many times longer than a direct connection a download may take."""
_SERVER = """
import socket, sys
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
block = bytes(1 << 20)
while True:
    connection, _ = listening.accept()
    with connection:
        for _ in range(int(connection.recv(20))):
            connection.sendall(block)
"""
_CLIENT = """
import socket, sys, time
port, server, megabytes = map(int, sys.argv[1:])
block = bytearray(1 << 18)
begun = time.perf_counter()
sock = socket.create_connection(("127.0.0.1", port))
if port != server:
    sock.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" % server)
    assert sock.recv(1000).startswith(b"HTTP/1.1 200 ")
sock.sendall(b"%d" % megabytes)
left = max(megabytes << 20, 0)
while size := sock.recv_into(block):
    left -= size
assert left == 0, left
print(time.perf_counter() - begun)
"""


class _Everything:
    async def judge(self, number: int, wanted: Destination) -> Access:
        return Access(True, "", ("127.0.0.1",))

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None: ...


def measure(quick: bool) -> Iterator[Row]:
    server = subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with asyncio.Runner() as runner:
            yield from _rows(runner, int(server.stdout.readline()), 3 if quick else 11)
    finally:
        server.kill()
        server.wait()


def _rows(runner: asyncio.Runner, server: int, runs: int) -> Iterator[Row]:
    def direct(megabytes: int) -> float:
        return runner.run(_timed(server, server, megabytes))

    def proxied(megabytes: int) -> float:
        return runner.run(_through_proxy(server, megabytes))

    large = interleaved({"direct": lambda: direct(MEGABYTES), "proxied": lambda: proxied(MEGABYTES)}, runs)
    small = interleaved({"direct": lambda: direct(0), "proxied": lambda: proxied(0)}, 2 * runs)
    yield Row(f"{MEGABYTES} MB", large["proxied"], "s", large["direct"], MAX_RATIO)
    yield Row("… throughput", MEGABYTES / large["proxied"], "MB/s", MEGABYTES / large["direct"])
    yield Row("a connection", small["proxied"] * 1000, "ms", small["direct"] * 1000)


async def _through_proxy(server: int, megabytes: int) -> float:
    import socket

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    serving = asyncio.ensure_future(Proxy(_Everything()).serve(listening))
    try:
        return await _timed(port, server, megabytes)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _timed(port: int, server: int, megabytes: int) -> float:
    arguments = [str(number) for number in (port, server, megabytes)]
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _CLIENT, *arguments, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await client.communicate()
    return float(out)
