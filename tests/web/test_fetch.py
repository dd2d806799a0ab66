"""Fetching from real servers: what was judged is what is dialled, redirects, limits, and what comes out as text."""

import asyncio
import gzip
import socket
import ssl
import zlib
from pathlib import Path

import pytest

from assent.http import connection
from assent.web.dial import Connector, dial, resolve
from assent.web.fetch import REQUESTS_A_MINUTE, FetchFailed, FetchLimits, Moved, Page
from assent.web.urls import MAX_REDIRECTS, parse
from support.certs import make_certificate
from support.fake_web import HANG, PUBLIC, FakeWeb, page, sends_to
from support.waiting import WAIT_LIMIT

HELLO = page("hello")


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's context for page.example, which we trust."""
    context, trusted = make_certificate(tmp_path, "page.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return context


async def fetch(fake: FakeWeb, url: str = "http://page.example/") -> Page:
    found = await fake.web.fetch(url)
    assert isinstance(found, Page)
    return found


async def text_of(answer: bytes) -> str:
    async with FakeWeb(answer) as fake:
        return (await fetch(fake)).text


async def problem(answer: bytes, limits: FetchLimits | None = None) -> str:
    async with FakeWeb(answer, limits=limits) as fake:
        with pytest.raises(FetchFailed) as failed:
            await fake.web.fetch("http://page.example/")
        return str(failed.value)


# --- what is dialled ---


@pytest.mark.spec("E3")
async def test_the_checked_address_is_dialled_and_the_name_stays_in_the_header() -> None:
    async with FakeWeb(HELLO) as fake:
        found = await fetch(fake, "http://page.example/a?b=c")
    assert (found.text, found.status, found.size, found.url) == ("hello", 200, 5, "http://page.example/a?b=c")
    assert fake.dialled == [(PUBLIC, 80)]
    assert fake.heads[0].startswith("GET /a?b=c HTTP/1.1\r\nHost: page.example\r\n")


async def test_a_name_server_that_changes_its_mind_changes_nothing() -> None:
    async with FakeWeb(HELLO) as fake:
        fake.names["page.example"] = [[PUBLIC], ["127.0.0.1"]]
        await fetch(fake)
        assert (fake.looked_up, fake.dialled) == (["page.example"], [(PUBLIC, 80)])
        with pytest.raises(FetchFailed, match=r"127\.0\.0\.1"):
            await fake.web.fetch("http://page.example/")
    assert len(fake.dialled) == 1


@pytest.mark.parametrize("private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])
async def test_one_private_address_among_public_ones_refuses_the_host(private: str) -> None:
    async with FakeWeb(HELLO) as fake:
        fake.names["page.example"] = [[PUBLIC, private]]
        with pytest.raises(FetchFailed):
            await fake.web.fetch("http://page.example/")
    assert fake.dialled == []


async def test_the_next_address_is_tried_when_one_refuses() -> None:
    async with FakeWeb(HELLO) as fake:
        fake.names["page.example"] = [["2606:4700::1111", "8.8.8.8", PUBLIC]]
        fake.dead = {"8.8.8.8"}
        assert (await fetch(fake)).text == "hello"
        assert fake.dialled == [("8.8.8.8", 80), (PUBLIC, 80)]
        fake.dead |= {PUBLIC, "2606:4700::1111"}
        with pytest.raises(FetchFailed, match=r"cannot reach page\.example: connection refused"):
            await fake.web.fetch("http://page.example/")


async def test_the_dialler_takes_addresses_and_no_names() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with await dial("127.0.0.1", server.getsockname()[1]) as sock:
            assert sock.getpeername() == server.getsockname()
        with pytest.raises(ValueError, match="localhost"):
            await dial("localhost", server.getsockname()[1])
    assert "127.0.0.1" in await resolve("localhost")


@pytest.mark.parametrize(("address", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
async def test_the_dialler_uses_the_family_of_the_address_and_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch, address: str, family: int
) -> None:
    made: list[socket.socket] = []
    families: list[int] = []
    real = socket.socket

    def make(family: int, kind: int) -> socket.socket:
        families.append(family)
        made.append(real(socket.AF_INET, kind))
        return made[-1]

    async def refuse(sock: socket.socket, place: tuple[str, int]) -> None:
        assert (sock.getblocking(), place) == (False, (address, 80))
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "socket", make)
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", refuse)
    with pytest.raises(ConnectionRefusedError):
        await dial(address, 80)
    assert families == [family]
    assert [sock.fileno() for sock in made] == [-1]


async def test_only_the_first_four_addresses_are_tried() -> None:
    addresses = [f"93.184.216.{number}" for number in range(1, 7)]
    async with FakeWeb(HELLO) as fake:
        fake.names["page.example"] = [addresses]
        fake.dead = set(addresses)
        with pytest.raises(FetchFailed):
            await fake.web.fetch("http://page.example/")
    assert [address for address, _ in fake.dialled] == addresses[:4]


async def test_without_an_address_nothing_is_dialled() -> None:
    with pytest.raises(OSError, match="no address"):
        await Connector().connect(parse("http://page.example/"), [], 1.0)


# --- TLS ---


async def test_a_handshake_that_fails_leaves_nothing_open(tls: ssl.SSLContext) -> None:
    async with FakeWeb(HELLO, tls) as fake:
        made: list[socket.socket] = []

        async def watched(address: str, port: int) -> socket.socket:
            made.append(await fake.dial(address, port))
            return made[-1]

        with pytest.raises(ssl.SSLError):
            await Connector(watched).connect(parse("https://other.example/"), [PUBLIC], 1.0)
    assert [sock.fileno() for sock in made] == [-1]


async def test_tls_asks_for_the_name_and_checks_the_certificate_against_it(tls: ssl.SSLContext) -> None:
    names: list[str | None] = []
    tls.sni_callback = lambda _, name, __: names.append(name)
    async with FakeWeb(HELLO, tls) as fake:
        assert (await fetch(fake, "https://page.example/")).text == "hello"
        assert (fake.dialled, names) == ([(PUBLIC, 443)], ["page.example"])
        with pytest.raises(FetchFailed, match=r"cannot reach other\.example: its certificate is not trusted"):
            await fake.web.fetch("https://other.example/")
    assert len(fake.heads) == 1, "nothing was asked of a server that is someone else"


async def test_a_connection_that_comes_to_nothing_is_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeWeb(HELLO) as fake:
        sock = await fake.dial(PUBLIC, 80)

        async def dialled(address: str, port: int) -> socket.socket:
            return sock

        async def fail(**_: object) -> None:
            raise OSError("no transport")

        monkeypatch.setattr(asyncio, "open_connection", fail)
        with pytest.raises(OSError, match="no transport"):
            await Connector(dialled).connect(parse("http://page.example/"), [PUBLIC], 1.0)
        assert sock.fileno() == -1


# --- redirects ---


@pytest.mark.parametrize("status", ["301 a", "302 b", "303 c", "307 d", "308 e"])
async def test_there_are_five_kinds_of_redirects(status: str) -> None:
    async with FakeWeb({"page.example/": sends_to("/b", status), "page.example/b": HELLO}) as fake:
        assert (await fetch(fake)).url == "http://page.example/b"


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "300 Multiple Choices", "305 Use Proxy", "404 Not Found"])
async def test_a_place_in_any_other_answer_is_not_followed(status: str) -> None:
    async with FakeWeb(page("hello", status=status, Location="http://other.example/")) as fake:
        found = await fetch(fake)
    assert (found.text, found.url, len(fake.dialled)) == ("hello", "http://page.example/", 1)


async def test_redirects_on_the_same_host_are_followed_and_judged_each_time(tls: ssl.SSLContext) -> None:
    pages = {
        "page.example/": sends_to("https://page.example/b", "301 Moved Permanently"),
        "page.example/b": sends_to("c?d", "307 Temporary Redirect"),
        "page.example/c?d": HELLO,
    }
    async with FakeWeb(pages, tls) as fake:
        found = await fetch(fake)
    assert (found.text, found.url) == ("hello", "https://page.example/c?d")
    assert fake.looked_up == ["page.example"] * 3
    assert fake.dialled == [(PUBLIC, 80), (PUBLIC, 443), (PUBLIC, 443)]


async def test_with_or_without_www_is_the_same_host() -> None:
    async with FakeWeb({"page.example/": sends_to("http://www.page.example/"), "www.page.example/": HELLO}) as fake:
        assert (await fetch(fake)).url == "http://www.page.example/"


@pytest.mark.parametrize("place", ["http://other.example/x", "http://sub.page.example/", "http://page.example:8080/"])
async def test_a_redirect_to_another_host_is_reported_and_not_followed(place: str) -> None:
    async with FakeWeb(sends_to(place)) as fake:
        assert await fake.web.fetch("http://page.example/") == Moved(place)
    assert len(fake.dialled) == 1


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://localhost/", "localhost"),
        ("http://inside.example/", "10.0.0.5"),
        ("file:///etc/passwd", "only http and https"),
        ("http://user@page.example/", "user name"),
    ],
)
async def test_a_redirect_to_a_private_place_is_refused(place: str, why: str) -> None:
    async with FakeWeb(sends_to(place)) as fake:
        fake.names["inside.example"] = [["10.0.0.5"]]
        with pytest.raises(FetchFailed, match="which is refused") as failed:
            await fake.web.fetch("http://page.example/")
    assert why in str(failed.value)
    assert len(fake.dialled) == 1


async def test_a_host_that_becomes_private_between_two_hops_is_refused() -> None:
    async with FakeWeb(sends_to("/again")) as fake:
        fake.names["page.example"] = [[PUBLIC], ["192.168.0.1"]]
        with pytest.raises(FetchFailed, match=r"192\.168\.0\.1"):
            await fake.web.fetch("http://page.example/")
    assert len(fake.dialled) == 1


async def test_a_redirect_never_goes_from_https_to_http(tls: ssl.SSLContext) -> None:
    async with FakeWeb(sends_to("http://page.example/"), tls) as fake:
        with pytest.raises(FetchFailed, match="from https to http"):
            await fake.web.fetch("https://page.example/")


async def test_an_endless_chain_of_redirects_ends() -> None:
    async with FakeWeb(sends_to("/")) as fake:
        with pytest.raises(FetchFailed, match=f"more than {MAX_REDIRECTS} redirects"):
            await fake.web.fetch("http://page.example/")
    assert len(fake.dialled) == MAX_REDIRECTS + 1


# --- bodies ---


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page("hello", Content_Length="9"), "4 bytes of the reply missing"),
        (page(b"5\r\nhel", Content_Length="", Transfer_Encoding="chunked"), "in the middle of the reply"),
        (page(gzip.compress(b"hello")[:-9], Content_Encoding="gzip"), "is incomplete"),
        (page("hello", Content_Encoding="gzip"), "cannot be decompressed"),
        (page("hello", Content_Encoding="br"), "unsupported encoding"),
        (b"", "without a reply"),
        (b"HTTP/1.1 200", "in the middle of its reply"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "is not HTTP"),
    ],
)
async def test_a_reply_that_is_cut_or_garbled_gives_no_text(answer: bytes, why: str) -> None:
    assert why in await problem(answer)


async def test_a_body_that_is_too_large_is_refused_by_what_is_told_and_by_what_comes() -> None:
    told = page("hello", Content_Length="999999") + HANG  # refused without reading: nothing more will ever come
    assert (
        await problem(told, FetchLimits(size=100)) == "http://page.example/ cannot be read: it has more than 100 bytes"
    )
    endless = page("x" * 200, Content_Length="") + HANG
    assert "more than 100 bytes" in await problem(endless, FetchLimits(size=100))
    async with FakeWeb(page("x" * 100), limits=FetchLimits(size=100)) as fake:
        assert len((await fetch(fake)).text) == 100


async def test_a_packed_body_of_exactly_the_limit_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BLOCK", 1)  # so that its checksum comes after all of its content
    answer = page(gzip.compress(b"x" * 100), Content_Encoding="gzip")
    async with FakeWeb(answer, limits=FetchLimits(size=100)) as fake:
        assert (await fetch(fake)).size == 100


async def test_a_connection_is_closed_when_its_answer_is_refused() -> None:
    async with FakeWeb(page("PK", "application/zip", Content_Length="9") + HANG) as fake:
        with pytest.raises(FetchFailed) as failed:
            await fake.web.fetch("http://page.example/")
        async with asyncio.timeout(WAIT_LIMIT):
            await fake.left.wait()
    assert "application/zip" in str(failed.value)


async def test_a_small_body_that_unpacks_to_a_huge_one_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 60_000
    assert "more than 1,000,000 bytes" in await problem(
        page(bomb, Content_Encoding="gzip"), limits=FetchLimits(size=1_000_000)
    )


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP"])
async def test_packed_bodies_are_unpacked_whatever_they_are_called(coding: str) -> None:
    text = b"hello " * 100
    for packed in (gzip.compress(text), zlib.compress(text), zlib.compress(text)[2:-4]):
        assert await text_of(page(packed, Content_Encoding=coding)) == text.decode()


async def test_a_server_that_falls_silent_is_given_up(tls: ssl.SSLContext) -> None:
    before, between = HANG, page("hello", Content_Length="9") + HANG
    soon, whole = FetchLimits(idle=1), FetchLimits(total=0.05)  # the first words of a reply come within the former
    assert await asyncio.gather(problem(before, soon), problem(between, soon), problem(between, whole)) == [
        "page.example sent nothing for 1 s",
        "page.example sent nothing for 1 s, in the middle of its reply",
        "http://page.example/ took longer than 0.05 s",
    ]


async def test_a_cancelled_fetch_closes_its_connection() -> None:
    async with FakeWeb(page("hello", Content_Length="9") + HANG) as fake:
        task = asyncio.create_task(fake.web.fetch("http://page.example/"))
        await fake.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await fake.left.wait()


# --- types and charsets ---


@pytest.mark.parametrize(
    ("type_", "body", "text"),
    [
        ("text/plain; charset=utf-8", "grün".encode(), "grün"),
        ("text/plain; charset=ISO-8859-1", "gr\u00fcn \u0080".encode("latin-1"), "grün €"),
        ('text/plain; charset="windows-1251"', "мир".encode("cp1251"), "мир"),
        ("text/plain; charset=Shift_JIS", "日本".encode("shift_jis"), "日本"),
        ("text/plain", "\ufeffx".encode("utf-16-le"), "x"),
        ("text/plain; charset=utf-16", "x".encode("utf-16"), "x"),
        ("text/plain; charset=nonsense", "grün".encode(), "grün"),
        ("text/plain; charset=punycode", b"a-b", "a-b"),
        ("text/plain; charset=unicode_escape", rb"\x41", r"\x41"),
        ("text/plain", b"\xff ok", "\ufffd ok"),
        ("text/html", '<meta charset="koi8-r"><p>мир'.encode("koi8-r"), "мир"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/vnd.api+json", b"{}", "{}"),
        ("text/markdown", b"# <b>x", "# <b>x"),
        ("", b"plain", "plain"),
    ],
)
async def test_text_comes_in_its_charset(type_: str, body: bytes, text: str) -> None:
    assert await text_of(page(body, type_)) == text


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page(b"\x89PNG" * 500, "image/png"), "it is not text but image/png, 2,000 bytes"),
        (page(b"PK", "application/zip", Content_Length="") + HANG, "it is not text but application/zip"),
        (page(b"a\0b", ""), "it is not text (3 bytes)"),
    ],
)
async def test_content_that_is_not_text_is_refused_with_its_type_and_size(answer: bytes, why: str) -> None:
    assert await problem(answer) == f"http://page.example/ cannot be read: {why}"


async def test_an_error_page_is_a_page_with_its_status() -> None:
    async with FakeWeb({}) as fake:
        found = await fetch(fake)
    assert (found.status, found.text) == (404, "no such page")


async def test_no_host_is_asked_more_often_than_ten_times_a_minute() -> None:
    async with FakeWeb(HELLO) as fake:
        for _ in range(REQUESTS_A_MINUTE):
            await fetch(fake)
        fake.now = 20
        with pytest.raises(FetchFailed, match=r"page\.example got 10 requests within a minute; try again in 40 s"):
            await fake.web.fetch("http://page.example/")
        await fetch(fake, "http://other.example/")
        fake.now = 60
        await fetch(fake)
