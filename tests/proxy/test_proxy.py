"""The proxy of a sandbox: what it understands, whom it asks, where it connects to, and how it treats odd clients."""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from assent.proxy.proxy_server import Proxy, ProxyLimits
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination, covers
from support.local_hosts import PUBLIC, Handler, LocalHosts, hello, local_hosts

pytestmark = pytest.mark.spec("I1")
LIMITS = ProxyLimits(request_seconds=20, connections=3, end_seconds=0.01)


class List:
    """Allows what is listed, and remembers everything."""

    def __init__(self, *entries: str) -> None:
        self.entries = entries
        self.judged: list[str] = []
        self.ends: asyncio.Queue[ConnectionEnd] = asyncio.Queue()

    async def judge(self, number: int, wanted: Destination) -> Access:
        self.judged.append(str(wanted))
        return Access(any(covers(one, wanted) for one in self.entries), "it is not in the list", self.entries)

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None:
        self.ends.put_nowait(end)


class Scene:
    def __init__(self, keeper: List, hosts: LocalHosts, port: int) -> None:
        self.keeper, self.hosts, self.port = keeper, hosts, port

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, data: bytes) -> bytes:
        """Everything that comes back until the proxy closes the connection."""
        reader, writer = await self.open()
        writer.write(data)
        async with asyncio.timeout(60):
            found = await reader.read()
        writer.close()
        return found


@asynccontextmanager
async def scene(*entries: str, handler: Handler = hello, limits: ProxyLimits = LIMITS) -> AsyncGenerator[Scene]:
    keeper = List(*entries)
    async with local_hosts(handler) as hosts:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        serving = asyncio.create_task(Proxy(keeper, hosts.resolve, hosts.dial, limits).serve(listening))
        try:
            yield Scene(keeper, hosts, port)
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


GET = b"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n"
SOCKS = b"\x05\x01\x00"


def socks(kind: int, host: bytes, port: int, command: int = 1) -> bytes:
    size = bytes((len(host),)) if kind == 3 else b""
    return SOCKS + bytes((5, command, 0, kind)) + size + host + port.to_bytes(2, "big")


# --- protocols ---


async def test_a_tunnel_carries_bytes_both_ways_and_counts_them():
    async with scene("example.org") as net:
        found = await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a.example.org:443\r\n\r\n" + GET)
        assert (
            found.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK") and b"asked for /" in found
        )
        end = await net.keeper.ends.get()
        established = len(b"HTTP/1.1 200 Connection established\r\n\r\n")
        assert (end.sent, end.received, end.problem) == (len(GET), len(found) - established, "")
        assert net.hosts.dialled == [(PUBLIC, 443)]


async def test_a_plain_request_is_forwarded_without_what_is_meant_for_the_proxy():
    heads: list[bytes] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        heads.append(await reader.readexactly(3))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    async with scene("example.org", handler=keep) as net:
        await net.say(
            b"POST http://a.example.org/x?y=1 HTTP/1.1\r\nHost: a.example.org\r\nProxy-Authorization: Basic x\r\n"
            b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: 1\r\nContent-Length: 3\r\n\r\n"
            b"abcGET / HTTP/1.1\r\n\r\n"
        )
    head, body = heads
    assert head.startswith(b"POST /x?y=1 HTTP/1.1\r\nHost: a.example.org\r\n") and body == b"abc"
    assert b"Proxy-" not in head and b"X-Hop" not in head and b"X-Kept: 1" in head and b"Connection: close" in head


@pytest.mark.parametrize(
    ("header", "body"),
    [(b"Content-Length: 3", b"abc"), (b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n")],
)
async def test_the_length_of_a_body_is_passed_on_whatever_the_program_says(header: bytes, body: bytes):
    """Without it, the server would take the body for another request."""
    asked: list[bytes] = []

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(len(body)))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    named = header.partition(b":")[0]
    async with scene("example.org", handler=keep) as net:
        head = b"POST http://a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n%s\r\nConnection: %s\r\n\r\n"
        assert b"204" in await net.say(head % (header, named) + body)
    assert header in asked[0] and asked[0].endswith(body)


@pytest.mark.parametrize(
    ("kind", "host", "wanted"),
    [
        (1, bytes((93, 184, 216, 34)), "93.184.216.34:443"),
        (3, b"A.example.org.", "a.example.org:443"),
        (3, b"93.184.216.34", "93.184.216.34:443"),
        (4, socket.inet_pton(socket.AF_INET6, "2606:2800:220:1::1"), "[2606:2800:220:1::1]:443"),
    ],
)
async def test_socks5_takes_names_and_addresses(kind: int, host: bytes, wanted: str):
    async with scene("example.org", "93.184.216.34", "2606:2800:220:1::1") as net:
        found = await net.say(socks(kind, host, 443) + GET)
        assert found[:4] == b"\x05\x00\x05\x00" and b"asked for /" in found
        assert net.keeper.judged == [wanted]
        assert net.hosts.resolved == (["a.example.org"] if "example" in wanted else [])


@pytest.mark.parametrize("command", [2, 3, 9])
async def test_socks5_only_connects(command: int):
    async with scene("example.org") as net:
        assert (await net.say(socks(3, b"a.example.org", 443, command)))[2:4] == b"\x05\x07"
        assert net.keeper.judged == []


async def test_a_socks5_client_that_insists_on_a_login_is_turned_away():
    async with scene("example.org") as net:
        assert await net.say(b"\x05\x01\x02") == b"\x05\xff"


# --- refusals ---


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (b"CONNECT evil.net:443 HTTP/1.1\r\nHost: evil.net\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
        (b"CONNECT a.example.org:22 HTTP/1.1\r\nHost: a.example.org\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
        (b"GET http://evil.net/ HTTP/1.1\r\nHost: evil.net\r\n\r\n", b"HTTP/1.1 403 Forbidden"),
        (socks(3, b"evil.net", 443), b"\x05\x00\x05\x02"),
    ],
)
async def test_what_is_not_allowed_is_refused_before_anything_is_looked_up(request_: bytes, reply: bytes):
    async with scene("example.org") as net:
        assert (await net.say(request_)).startswith(reply)
        assert (net.hosts.resolved, net.hosts.dialled) == ([], [])


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"GET http://a.example.org/ HTTP/1.1\r\nHost: b.example.org\r\n\r\n",
        b"GET http://evil.net@a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"GET https://a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"CONNECT a.example.org HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"CONNECT a.example.org:0 HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"CONNECT a.example.org:99999 HTTP/1.1\r\nHost: a.example.org\r\n\r\n",
        b"CONNECT a_b..org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x04\x01\x01\xbb\x01\x02\x03\x04\x00\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello\r\n\r\n",
        b"GET http://a.example.org/ HTTP/1.1\r\nHost: a.example.org\r\nContent-Length: 1\r\n"
        b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
    ],
)
async def test_what_is_not_understood_is_refused(request_: bytes):
    async with scene("example.org") as net:
        assert (await net.say(request_)).startswith(b"HTTP/1.1 400 Bad Request")
        assert net.hosts.dialled == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "0x7f000001", "127.1"],
)
async def test_an_address_that_is_not_public_is_not_dialled(host: str):
    class Everything(List):
        async def judge(self, number: int, wanted: Destination) -> Access:
            return Access(True, "yolo")

    async with scene() as net:
        net.keeper.__class__ = Everything
        found = await net.say(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert b"403 Forbidden" in found
        assert net.hosts.dialled == []


async def test_a_name_with_one_local_address_is_not_dialled_unless_an_entry_names_that_address():
    async with scene("example.org") as net:
        net.hosts.addresses["a.example.org"] = [PUBLIC, "10.0.0.1"]
        found = await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"403 Forbidden" in found and b"a.example.org has a local address: 10.0.0.1" in found
        assert net.hosts.dialled == []
    async with scene("example.org", "10.0.0.1") as net:
        net.hosts.addresses["a.example.org"] = ["10.0.0.1"]
        found = await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n" + GET)
        assert b"asked for /" in found


async def test_a_name_is_resolved_once_so_a_second_answer_leads_nowhere():
    async with scene("example.org") as net:
        net.hosts.rebinds["a.example.org"] = ["127.0.0.1"]
        first = await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n" + GET)
        second = await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n" + GET)
        assert b"asked for /" in first and b"403 Forbidden" in second
        assert net.hosts.dialled == [(PUBLIC, 443)], "the address that was judged, and no name"


# --- odd clients and servers ---


async def test_a_head_that_never_ends_is_cut_off():
    async with scene("example.org") as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example.org:443 HTTP/1.1\r\n" + b"X: y\r\n" * 20_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 400 Bad Request")
        writer.close()


async def test_a_client_that_dawdles_is_cut_off():
    async with scene("example.org", limits=ProxyLimits(request_seconds=0.1)) as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example")
        assert await reader.read() == b""
        writer.close()


async def test_there_are_only_so_many_connections_at_a_time():
    async with scene("example.org") as net:
        idle = [await net.open() for _ in range(LIMITS.connections)]
        for _, writer in idle:
            writer.write(b"C")
        await asyncio.sleep(0)
        assert (await net.say(b"CONNECT a.example.org:443 HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 503")
        for _, writer in idle:
            writer.close()


async def test_a_client_that_stops_sending_still_gets_the_rest():
    async def reverse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read())[::-1] * 100_000)
        await writer.drain()
        writer.close()

    async with scene("example.org", handler=reverse) as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\nabc")
        writer.write_eof()
        found = await reader.read()
        assert found.endswith(b"cba" * 100_000)
        writer.close()


async def test_a_server_that_stops_sending_still_gets_the_rest():
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")
        writer.write_eof()
        heard.put_nowait(await reader.read())
        writer.close()

    async with scene("example.org", handler=listen) as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await reader.read()).endswith(b"bye")
        writer.write(b"one more thing")
        writer.close()
        assert await heard.get() == b"one more thing"


async def test_a_connection_that_is_open_when_the_proxy_ends_is_closed_and_reported():
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with scene("example.org", handler=wait) as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
    assert await reader.read() == b""
    assert (await net.keeper.ends.get()).problem == "it was cut off when the command ended"
    writer.close()


# --- TLS ---


def client_hello(name: str | None) -> bytes:
    """The first bytes of a real handshake."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    handshake = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        handshake.do_handshake()
    return outgoing.read()


def in_two_records(hello_: bytes) -> bytes:
    body = hello_[5:]
    pieces = (body[:9], body[9:])
    return b"".join(hello_[:3] + len(piece).to_bytes(2, "big") + piece for piece in pieces)


async def handshake(first: bytes) -> tuple[bytes, ConnectionEnd]:
    """What the server gets of it."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.put_nowait(await reader.read())
        writer.close()

    async with scene("example.org", handler=listen) as net:
        reader, writer = await net.open()
        writer.write(b"CONNECT a.example.org:443 HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        for at in range(0, len(first), 50):
            writer.write(first[at : at + 50])
            await writer.drain()
        writer.write_eof()
        await reader.read()
        writer.close()
        return await heard.get(), await net.keeper.ends.get()


@pytest.mark.parametrize(
    "first",
    [
        client_hello("a.example.org"),
        client_hello("A.Example.org"),
        client_hello(None),
        in_two_records(client_hello("a.example.org")),
        b"SSH-2.0-x\r\n",
    ],
)
async def test_a_handshake_for_the_judged_host_passes_unchanged(first: bytes):
    heard, end = await handshake(first)
    assert (heard, end.problem) == (first, "")


@pytest.mark.parametrize(
    "first",
    [client_hello("evil.net"), in_two_records(client_hello("evil.net")), b"\x16\x03\x01\x00\x05" + b"\x01" * 500],
)
async def test_a_handshake_for_another_host_never_reaches_the_server(first: bytes):
    heard, end = await handshake(first)
    assert heard == b"" and "TLS handshake" in end.problem and end.sent == 0


@pytest.mark.parametrize("before", [b"\x15\x03\x01\x00\x02\x01\x5a", b"\x14\x03\x01\x00\x01\x01"])
async def test_no_tls_record_may_come_before_the_handshake_that_is_checked(before: bytes):
    heard, end = await handshake(before + client_hello("evil.net"))
    assert heard == b"" and "does not begin with a handshake" in end.problem


async def test_bytes_that_only_look_like_tls_at_first_pass():
    heard, end = await handshake(b"\x15abc")
    assert (heard, end.problem) == (b"\x15abc", "")
