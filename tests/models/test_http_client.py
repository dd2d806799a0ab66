"""The HTTP client against real sockets: keep-alive, failures in words, proxies, TLS, and letting go."""

import asyncio
import gc
import socket
import warnings
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from assent.models.model_protocol import BadRequest, BrokenStream, Transient
from assent.models.proxy import Proxy
from assent.models.streaming_client import HttpClient, Timeouts, parse_origin
from support.certs import HOST, make_certificate
from support.fake_gemini import FakeGemini
from support.raw_server import FakeProxy, RawServer

BODY = b'{"contents":[]}'
HELLO = {"chunks": [{"raw": "hello"}, {"cut": True}]}


async def post(client: HttpClient, path: str = "/x") -> tuple[int, bytes]:
    async with await client.post(path, [("Content-Type", "application/json")], BODY) as response:
        return response.status, await response.read_all()


def replies(*specs: dict[str, Any]) -> dict[str, Any]:
    return {"replies": list(specs)}


# --- keep-alive ---


async def test_one_connection_serves_request_after_request() -> None:
    async with FakeGemini(replies(HELLO | {"repeat": 3})) as fake:
        client = HttpClient(fake.url)
        assert [await post(client) for _ in range(3)] == [(200, b"hello")] * 3
        assert fake.connections == 1
        await client.close()


async def test_an_idle_connection_that_the_server_closed_is_replaced() -> None:
    async with FakeGemini(replies(HELLO | {"repeat": 2})) as fake:
        client = HttpClient(fake.url)
        await post(client)
        fake.drop_connections()  # the client cannot have noticed yet: this is the race, not the easy case
        assert await post(client) == (200, b"hello")
        assert fake.connections == 2
        await client.close()


async def test_a_connection_that_was_idle_too_long_is_replaced() -> None:
    async with FakeGemini(replies(HELLO | {"repeat": 2})) as fake:
        client = HttpClient(fake.url, timeouts=Timeouts(idle=0))
        await post(client)
        await post(client)
        assert fake.connections == 2
        await client.close()


async def test_a_server_that_announces_a_close_is_not_reused() -> None:
    async with FakeGemini(replies(HELLO | {"close": True, "repeat": 2})) as fake:
        client = HttpClient(fake.url)
        assert [await post(client) for _ in range(2)] == [(200, b"hello")] * 2
        assert fake.connections == 2
        await client.close()


async def test_concurrent_requests_get_their_own_connections() -> None:
    async with FakeGemini(replies(HELLO | {"repeat": 4})) as fake:
        client = HttpClient(fake.url)
        assert await asyncio.gather(post(client), post(client), post(client)) == [(200, b"hello")] * 3
        assert fake.connections == 3
        await post(client)
        assert fake.connections == 3
        await client.close()


async def test_a_body_that_was_not_read_completely_closes_the_connection() -> None:
    async with FakeGemini(replies({"chunks": [{"raw": "a"}, {"hang": True}]}, HELLO)) as fake:
        client = HttpClient(fake.url)
        async with await client.post("/x", [], BODY) as response:
            assert await response.read() == b"a"
        await fake.hung_up.wait()
        assert await post(client) == (200, b"hello")
        assert fake.connections == 2
        await client.close()


# --- what is sent ---


async def test_the_path_of_the_base_url_goes_before_the_path() -> None:
    async with FakeGemini(replies(HELLO)) as fake:
        client = HttpClient(f"{fake.url}/gateway/")
        await post(client, "/x?y=1")
        assert fake.requests[0].path == "/gateway/x?y=1"
        assert fake.requests[0].headers["host"] == f"127.0.0.1:{fake.port}"
        await client.close()


@pytest.mark.parametrize("name", ["a", "a b", ""])
@pytest.mark.parametrize("value", ["secret\r\nc: d", "secret\nc", "secret ä"])
async def test_a_header_cannot_smuggle_anything(name: str, value: str) -> None:
    client = HttpClient("http://127.0.0.1:1")
    with pytest.raises(BadRequest, match="characters that HTTP forbids") as refused:
        await client.post("/x", [(name, value)], BODY)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("path", ["/a b", "/a\r\nb", "/ä"])
async def test_a_path_cannot_smuggle_anything(path: str) -> None:
    with pytest.raises(BadRequest):
        await HttpClient("http://127.0.0.1:1").post(path, [], BODY)


@pytest.mark.parametrize(
    "url", ["", "model.example", "ftp://model.example", "http://", "http://h:99999", "http://[::1"]
)
def test_an_invalid_address_is_rejected(url: str) -> None:
    with pytest.raises(BadRequest, match="is not an address"):
        parse_origin(url)


def test_an_ipv6_address_keeps_its_brackets() -> None:
    origin = parse_origin("http://[::1]:8080/a")
    assert (origin.host, origin.authority) == ("::1", "[::1]:8080")


# --- failures in words ---


async def test_a_refused_connection_is_transient_and_names_the_host() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = HttpClient(f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(Transient, match=r"cannot reach 127\.0\.0\.1:\d+: connection refused"):
            await post(client)


async def test_a_name_that_cannot_be_resolved_is_transient(monkeypatch: pytest.MonkeyPatch) -> None:
    def unresolved(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    with pytest.raises(Transient, match=r"cannot reach nowhere\.example: its name cannot be resolved"):
        await post(HttpClient("http://nowhere.example"))


async def test_an_invalid_name_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="is not the name of a host"):
        await post(HttpClient("http://a..b"))


async def test_a_host_that_accepts_but_does_not_speak_tls_times_out() -> None:
    async with RawServer(None) as mute:
        client = HttpClient(f"https://127.0.0.1:{mute.port}", timeouts=Timeouts(connect=0.05))
        with pytest.raises(Transient, match=r"127\.0\.0\.1:\d+ did not answer within 0\.05 s"):
            await post(client)


async def test_silence_before_the_reply_is_transient() -> None:
    async with RawServer(None) as mute:
        client = HttpClient(f"http://127.0.0.1:{mute.port}", timeouts=Timeouts(read=0.05))
        with pytest.raises(Transient, match=r"127\.0\.0\.1 sent nothing for 0\.05 s"):
            await post(client)
        await client.close()


async def test_silence_within_the_reply_breaks_the_stream() -> None:
    async with FakeGemini(replies({"chunks": [{"raw": "a"}, {"hang": True}]})) as fake:
        client = HttpClient(fake.url, timeouts=Timeouts(read=0.05))
        async with await client.post("/x", [], BODY) as response:
            assert await response.read() == b"a"
            with pytest.raises(BrokenStream, match="sent nothing for"):
                await response.read()
        await fake.hung_up.wait()
        await client.close()


async def test_a_connection_closed_without_a_reply_is_transient() -> None:
    async with FakeGemini(replies(HELLO | {"drop_after": 0})) as fake:
        with pytest.raises(Transient, match="closed the connection without a reply") as failed:
            await post(HttpClient(fake.url))
        assert not isinstance(failed.value, BrokenStream)


@pytest.mark.parametrize("after", [1, 20, 60])
async def test_a_head_that_is_cut_breaks_the_stream(after: int) -> None:
    async with FakeGemini(replies(HELLO | {"drop_after": after})) as fake:
        with pytest.raises(BrokenStream, match="in the middle of its reply"):
            await post(HttpClient(fake.url))


async def test_a_connection_reset_within_the_body_breaks_the_stream() -> None:
    async with FakeGemini(replies({"chunks": [{"raw": "a"}, {"abort": True}]})) as fake:
        client = HttpClient(fake.url)
        with pytest.raises(BrokenStream, match="in the middle of its reply"):
            async with await client.post("/x", [], BODY) as response:
                while await response.read() is not None:
                    pass
        await client.close()


async def test_what_is_not_http_breaks_the_stream() -> None:
    async with RawServer(b"SSH-2.0-OpenSSH_9.2\r\n\r\n") as server:
        with pytest.raises(BrokenStream, match="something that is not HTTP"):
            await post(HttpClient(f"http://127.0.0.1:{server.port}"))


async def test_a_head_without_end_breaks_the_stream() -> None:
    async with RawServer(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000) as server:
        with pytest.raises(BrokenStream):
            await post(HttpClient(f"http://127.0.0.1:{server.port}"))


async def test_informational_responses_are_skipped() -> None:
    answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with RawServer(answer) as server:
        client = HttpClient(f"http://127.0.0.1:{server.port}")
        assert await post(client) == (200, b"ok")
        await client.close()


async def test_an_error_body_is_read_only_up_to_the_limit() -> None:
    async with FakeGemini(replies({"status": 500, "body": "x" * 1_000_000})) as fake:
        client = HttpClient(fake.url)
        async with await client.post("/x", [], BODY) as response:
            assert await response.read_all(limit=1000) == b"x" * 1000
        await client.close()


async def test_an_error_body_that_is_cut_is_read_as_far_as_it_came() -> None:
    async with RawServer(b"HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\npart") as server:
        assert await post(HttpClient(f"http://127.0.0.1:{server.port}")) == (500, b"part")


# --- letting go ---


async def test_cancelling_while_waiting_for_the_head_closes_the_connection() -> None:
    async with RawServer(None) as mute:
        client = HttpClient(f"http://127.0.0.1:{mute.port}")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await post(client)
        assert client.open_connections == 0


async def test_a_request_that_is_cancelled_at_any_step_leaves_no_socket() -> None:
    """A socket that nobody closes is a warning when it is collected, and warnings are errors here."""
    async with RawServer(None) as mute:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for steps in range(30):
                await cancel_after(steps, HttpClient(f"http://127.0.0.1:{mute.port}"))
            gc.collect()
        assert [str(each.message) for each in caught] == []


async def cancel_after(steps: int, client: HttpClient) -> None:
    request = asyncio.create_task(post(client))
    for _ in range(steps):
        await asyncio.sleep(0)
    request.cancel()
    await asyncio.wait([request])
    await client.close()


async def test_closing_the_client_ends_the_requests_under_way() -> None:
    async with FakeGemini(replies({"chunks": [{"raw": "a"}, {"hang": True}]})) as fake:
        client = HttpClient(fake.url)
        async with await client.post("/x", [], BODY) as response:
            assert await response.read() == b"a"
            await client.close()
            with pytest.raises(BrokenStream):
                await response.read()
        await fake.hung_up.wait()


# --- TLS and proxies ---


async def test_tls_works_with_a_certificate_that_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, trusted = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with FakeGemini(replies(HELLO | {"repeat": 2}), tls=context) as fake:
        client = HttpClient(fake.url)
        assert [await post(client) for _ in range(2)] == [(200, b"hello")] * 2
        assert fake.connections == 1
        await client.close()


async def test_an_untrusted_certificate_is_rejected_with_a_clear_message(tmp_path: Path) -> None:
    context, _ = make_certificate(tmp_path)
    async with FakeGemini(replies(HELLO), tls=context) as fake:
        with pytest.raises(Transient, match="its certificate is not trusted"):
            await post(HttpClient(fake.url))


async def test_https_goes_through_a_tunnel_that_never_sees_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, trusted = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with FakeGemini(replies(HELLO), tls=context) as fake, FakeProxy(fake.port) as proxy:
        client = HttpClient(f"https://{HOST}", Proxy("127.0.0.1", proxy.port, "me:secret"))
        assert await post(client) == (200, b"hello")
        await client.close()
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {b64encode(b'me:secret').decode()}\r\n" in proxy.heads[0]
    assert "proxy-authorization" not in fake.requests[0].headers


async def test_http_through_a_proxy_names_the_whole_address() -> None:
    async with FakeGemini(replies(HELLO)) as fake:  # a proxy, for this purpose
        client = HttpClient("http://model.example/a", Proxy("127.0.0.1", fake.port))
        assert await post(client) == (200, b"hello")
        assert fake.requests[0].path == "http://model.example/a/x"
        await client.close()


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (407, BadRequest, "requires a login"),
        (403, BadRequest, "refused the connection"),
        (502, Transient, "refused the connection"),
    ],
)
async def test_a_proxy_that_refuses_is_named(status: int, kind: type[Exception], words: str) -> None:
    async with FakeProxy(1, status) as proxy:
        client = HttpClient(f"https://{HOST}", Proxy("127.0.0.1", proxy.port))
        with pytest.raises(kind, match=rf"the proxy 127\.0\.0\.1 {words}"):
            await post(client)
        assert client.open_connections == 0


async def test_a_proxy_that_hangs_up_is_transient() -> None:
    async with RawServer(b"") as proxy:
        with pytest.raises(Transient, match=r"the proxy 127\.0\.0\.1 closed the connection"):
            await post(HttpClient(f"https://{HOST}", Proxy("127.0.0.1", proxy.port)))
