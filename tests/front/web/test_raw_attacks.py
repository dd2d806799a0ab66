"""Bytes that no browser sends: smuggling, other hosts, paths out of the page, and lines that are not ours in log and
metrics."""

import asyncio
import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assent.front.web.server_log import ServerLog
from support.served import Served
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("H4")
JSON = ("Content-Type: application/json",)
EMPTY_BODY = ("Content-Length: 2", *JSON)


class Lines:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def reopen(self) -> None: ...

    def close(self) -> None: ...


async def sends(served: Served, line: str, *headers: str, body: str = "", host: str | None = "") -> list[int]:
    """The status of every response on the connection; `host`: None for none, empty for the right one."""
    here = f"127.0.0.1:{served.server.port}"
    known = [] if host is None else [f"Host: {host or here}"]
    token = [] if "Authorization" in "".join(headers) else [f"Authorization: Bearer {served.server.token}"]
    head = "\r\n".join([line, *known, *token, *headers, "Connection: close", "", ""])
    reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
    writer.write((head + body).encode("latin-1"))
    async with asyncio.timeout(WAIT_LIMIT):
        answer = await reader.read()
    writer.close()
    return [int(part.split()[1]) for part in answer.split(b"\r\n") if part.startswith(b"HTTP/1.1 ")]


GET = "GET /api/v1/me HTTP/1.1"
POST = "POST /api/v1/sessions HTTP/1.1"
SECOND = "0\r\n\r\nGET /api/v1/me HTTP/1.1\r\n\r\n"
REFUSED: dict[str, tuple[int, str, tuple[str, ...], str]] = {
    "length and chunks": (400, POST, ("Content-Length: 4", "Transfer-Encoding: chunked", *JSON), SECOND),
    "two lengths": (400, POST, ("Content-Length: 2", "Content-Length: 40", *JSON), "{}"),
    "unknown coding": (400, POST, ("Transfer-Encoding: xchunked", *EMPTY_BODY), "{}"),
    "space before the colon": (400, GET, ("Host : evil",), ""),
    "folded header": (400, GET, ("X: a", " Authorization: x"), ""),
    "second host": (400, GET, ("Host: evil",), ""),
    "second token": (400, GET, ("Authorization: Bearer x", "Authorization: Bearer y"), ""),
    "address in the request line": (400, "GET http://evil.example/api/v1/me HTTP/1.1", (), ""),
    "our address in the request line": (400, "GET http://127.0.0.1/api/v1/me HTTP/1.1", (), ""),
    "asterisk": (400, "OPTIONS * HTTP/1.1", (), ""),
    "tunnel": (400, "CONNECT evil.example:443 HTTP/1.1", (), ""),
    "no method": (400, 'GET" x="1 /api/v1/me HTTP/1.1', (), ""),
    "unknown method": (400, "BREW /api/v1/me HTTP/1.1", (), ""),
    "trace": (405, "TRACE /api/v1/me HTTP/1.1", (), ""),
    "escape sequence in the path": (400, "GET /\x1b[31m HTTP/1.1", (), ""),
    "escape sequence in a header": (400, GET, ("User-Agent: a\x1b[31m\x0b",), ""),
    "null origin": (403, POST, ("Origin: null", *EMPTY_BODY), "{}"),
    "origin with our beginning": (403, GET, ("Origin: http://127.0.0.1.evil.example",), ""),
    "text instead of JSON": (415, POST, ("Content-Type: text/plain", "Content-Length: 2"), "{}"),
    "token in a cookie": (401, GET, ("Authorization: Basic eDp5", "Cookie: token=x"), ""),
    "token in the query": (400, "GET /api/v1/me?token=abc HTTP/1.1", (), ""),
    "nested too deeply": (400, POST, ("Content-Length: 20000", *JSON), "[" * 20_000),
}
PATHS = (
    "/page/../../../etc/passwd",
    "/page/%2e%2e/%2e%2e/etc/passwd",
    "/page/..%2f..%2fetc/passwd",
    "/page/x%00.js",
    "//evil.example/page/",
    "/api/v1/../v1/me",
    "/%2e%2e/api/v1/me",
    "/api/v1/me;x",
    "/api/v1/sessions/..%2f..%2fme",
    "/api/v1/sessions/%0d%0aSet-Cookie:%20x=1",
)
HOSTS = (
    None,
    "evil.example",
    "localhost.",
    "0.0.0.0",
    "2130706433",
    "127.0.0.1@evil.example",
    "127.0.0.1.evil.example",
    "[::ffff:127.0.0.1]",
)


async def test_everything_is_refused_and_the_server_goes_on(tmp_path: Path):
    """One server for all of them: what one attack leaves behind must not help the next."""
    async with Served(tmp_path) as served:
        found = {name: await sends(served, line, *more, body=body) for name, (_, line, more, body) in REFUSED.items()}
        assert found == {name: [status] for name, (status, *_) in REFUSED.items()}
        paths = {path: await sends(served, f"GET {path} HTTP/1.1") for path in PATHS}
        assert paths == {key: [404] for key in PATHS}
        hosts = {host: await sends(served, GET, host=host) for host in HOSTS}
        assert hosts == {key: [421] for key in HOSTS}
        assert await sends(served, GET) == [200]
        assert (await served.api().sessions())["total"] == 0


async def test_no_line_of_the_log_and_no_metric_is_written_by_a_client(tmp_path: Path):
    sink = Lines()
    served = Served(tmp_path)
    served.server_log = ServerLog(sink, "text", "debug")
    forged = "%0a2026-01-01T00:00:00.000Z%20INFO%20decision%20by=eve%1b%5b2J"
    async with served:
        for path in (f"/api/v1/sessions/{forged}", f'/api/v1/{forged}"}}1', '/metrics"%7d%209%0aassent_up%209'):
            await sends(served, f"GET {path} HTTP/1.1", 'User-Agent: x" level=ERROR', "X-Request-ID: forged")
        metrics = await served.api().http.request("GET", "/metrics")
    served.server_log.close()
    assert b"\x1b" not in sink.data and sink.data.isascii()
    lines = sink.data.decode().splitlines()
    assert all(line.split()[2].replace(".", "").isalpha() for line in lines), (
        "each begins with a time, a level, an event"
    )
    assert not any(line.startswith("2026-01-01") or "request_id=forged" in line for line in lines)
    families = {family.name for family in text_string_to_metric_families(metrics.body.decode())}
    assert "assent_up" not in families and all(name.startswith(("assent_", "process_")) for name in families)


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_error_of_the_server(tmp_path: Path):
    sink = Lines()
    served = Served(tmp_path)
    served.server_log = ServerLog(sink, "json", "info")
    async with served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.server.port)
        head = [POST, f"Host: 127.0.0.1:{served.server.port}", f"Authorization: Bearer {served.server.token}", *JSON]
        writer.write("\r\n".join([*head, "Content-Length: 99", "Expect: 100-continue", "", ""]).encode())
        await reader.readuntil(b"100 Continue\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        await sends(served, GET)
    served.server_log.close()
    (line,) = [json.loads(line) for line in sink.data.splitlines() if b'"/api/v1/sessions"' in line]
    assert (line["status"], line["level"]) == (400, "warning")
