"""Beyond this machine: over TLS of our own, and behind a proxy that does TLS. Login, stream and decision, for real."""

import asyncio
import ssl
from pathlib import Path

import msgspec
import pytest

from assent.client import Api, ApiProblem
from assent.client.http_client import Http, Reply, Unreachable
from assent.events import ApprovalAnswered
from assent.front.web.web_server import BadPlace, Server, Where, check_place
from assent.http.head import request_head
from support.certs import make_certificate
from support.program import Program
from support.proxy import Proxy
from support.served import Served, until_event, until_waiting

pytestmark = pytest.mark.spec("H4")


def own_tls(folder: Path) -> tuple[Where, str]:
    _, trusted = make_certificate(folder, "localhost")
    return Where(port=0, tls_cert=str(trusted), tls_key=str(folder / "private.pem")), str(trusted)


async def logged_in(server: Server, ca: str) -> Api:
    """As a browser does it: with the code of the printed address."""
    address, _, code = server.login_address().partition("/#code=")
    http = Http(address, ca=ca)
    reply = await http.request("POST", "/api/v1/login", msgspec.json.encode({"code": code}))
    await http.close()
    return Api(Http(address, msgspec.json.decode(reply.body)["token"], ca=ca))


async def answered(api: Api, key: str | None = None) -> ApprovalAnswered:
    """A prompt that runs to its end, with an answer in the middle, watched on the stream."""
    session = (await api.create(prompt="go"))["id"]
    (waiting,) = await until_waiting(api, session)
    await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"], key=key)
    events = [envelope.event for envelope in await until_event(api, session, "turn.finished")]
    return next(event for event in events if isinstance(event, ApprovalAnswered))


async def test_over_tls_with_a_certificate_that_the_client_is_told_to_trust(tmp_path: Path):
    where, ca = own_tls(tmp_path)
    async with Served(tmp_path, where) as served:
        assert served.address.startswith("https://127.0.0.1:")
        async with await logged_in(served.server, ca) as api:
            assert (await answered(api)).by == "ann@127.0.0.1"
            reply = await api.http.request("GET", "/api/v1/me", headers=[("Origin", served.address)])
            assert (reply.status, reply.headers["strict-transport-security"]) == (200, "max-age=31536000")
            plain = served.address.replace("https:", "http:")
            assert (await api.http.request("GET", "/api/v1/me", headers=[("Origin", plain)])).status == 403
    assert (served.folder / "a.txt").read_text() == "hello\n"


async def test_a_certificate_that_nobody_knows_is_not_trusted_and_it_is_said_how_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    where, ca = own_tls(tmp_path)
    async with Served(tmp_path, where) as served:
        with pytest.raises(Unreachable, match=r"not trusted .*--ca FILE, or SSL_CERT_FILE"):
            await served.api().me()
        with pytest.raises(Unreachable):  # in the clear
            await Api(Http(served.address.replace("https:", "http:"), served.server.token)).me()
        monkeypatch.setenv("SSL_CERT_FILE", ca)
        assert (await served.api().me())["name"] == "ann"
    with pytest.raises(ValueError, match="cannot read certificates"):
        Http("https://x", ca=str(tmp_path / "none.pem"))
    with pytest.raises(ValueError, match="cannot read certificates"):
        Http("https://x", ca=str(tmp_path / "private.pem"))


async def test_behind_a_proxy_the_public_address_is_the_only_one(tmp_path: Path):
    context, trusted = make_certificate(tmp_path, "localhost")
    proxy = Proxy(context)
    async with proxy as port:
        public = f"https://localhost:{port}"
        async with Served(tmp_path, Where(port=0, behind_proxy=public)) as served:
            proxy.behind = served.server.port
            assert served.address == public
            async with await logged_in(served.server, str(trusted)) as api:
                assert (await answered(api)).by == "ann@203.0.113.9"

                async def me(origin: str) -> Reply:
                    return await api.http.request("GET", "/api/v1/me", headers=[("Origin", origin)])

                assert (await me(public)).headers["strict-transport-security"]
                own = f"http://127.0.0.1:{proxy.behind}"
                for origin in (own, public.replace("https:", "http:"), "https://localhost", "null"):
                    assert (await me(origin)).status == 403
            for address in (own, f"https://127.0.0.1:{port}"):
                async with Api(Http(address, served.server.token, ca=str(trusted))) as elsewhere:
                    with pytest.raises(ApiProblem, match="does not have that address"):
                        await elsewhere.me()


async def test_behind_a_proxy_nobody_can_say_that_they_are_elsewhere(tmp_path: Path):
    context, trusted = make_certificate(tmp_path, "localhost")
    proxy = Proxy(context)
    async with proxy as port, Served(tmp_path, Where(port=0, behind_proxy=f"https://localhost:{port}")) as served:
        proxy.behind = served.server.port
        http = Http(served.address, served.server.token, ca=str(trusted))
        for said in ("1.2.3.4", "127.0.0.1", "<b>root</b>, 10.0.0.1"):
            reply = await http.request("GET", "/api/v1/me", headers=[("X-Forwarded-For", said)])
            assert msgspec.json.decode(reply.body)["by"] == "ann@203.0.113.9"
        proxy.client = "<b>nonsense</b>"
        assert (await Api(http).me())["by"] == "ann@unknown"
        await http.close()
    async with Served(tmp_path) as served:  # without a proxy the header means nothing
        reply = await served.api().http.request("GET", "/api/v1/me", headers=[("X-Forwarded-For", "1.2.3.4")])
        assert msgspec.json.decode(reply.body)["by"] == "ann@127.0.0.1"


async def test_a_key_is_the_same_wherever_its_owner_asks_from(tmp_path: Path):
    context, trusted = make_certificate(tmp_path, "localhost")
    proxy = Proxy(context)
    async with proxy as port, Served(tmp_path, Where(port=0, behind_proxy=f"https://localhost:{port}")) as served:
        proxy.behind = served.server.port
        async with await logged_in(served.server, str(trusted)) as api:
            session = (await api.create(prompt="go"))["id"]
            (waiting,) = await until_waiting(api, session)
            where = (session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
            taken = await api.decide(*where, key="on-the-train")
            proxy.client = "198.51.100.7"
            assert await api.decide(*where, key="on-the-train") == taken
            with pytest.raises(ApiProblem, match="already answered by ann@203"):
                await api.decide(*where, key="another")


async def test_a_name_that_clients_use_can_be_added_and_is_the_one_that_is_printed(tmp_path: Path):
    where, ca = own_tls(tmp_path)
    where = msgspec.structs.replace(where, host="0.0.0.0", names=("LocalHost", "192.0.2.1"))
    async with Served(tmp_path, where) as served:
        port = served.server.port
        assert served.address == f"https://LocalHost:{port}"
        http = Http(served.address, served.server.token, ca=ca)
        for host, status in ((f"localhost:{port}", 200), (f"192.0.2.1:{port}", 200), ("evil.example", 421)):
            data = request_head("GET", "/healthz", [("Host", host)])
            assert (await ask(port, ca, data)).split()[1] == str(status).encode()
        assert (await Api(http).me())["name"] == "ann"
        reply = await http.request("GET", "/api/v1/me", headers=[("Origin", f"https://localhost:{port}")])
        assert reply.status == 200, "browsers write names small"
        await http.close()
    for odd in ("https://x", "x/y", "x y", ""):
        with pytest.raises(BadPlace, match="--name"):
            check_place(Where(names=(odd,)))


async def ask(port: int, ca: str, data: bytes) -> bytes:
    context = ssl.create_default_context(cafile=ca)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.transport.abort()
    return head


@pytest.mark.parametrize("missing", ["cert", "key", "both"])
async def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path, missing: str):
    where, ca = own_tls(tmp_path)
    nothing = str(tmp_path / "nothing.pem")
    cert, key = (
        nothing if missing in (each, "both") else good for each, good in (("cert", ca), ("key", where.tls_key))
    )
    with pytest.raises(BadPlace, match="cannot be used for TLS"):
        async with Served(tmp_path, Where(port=0, tls_cert=cert, tls_key=key)):
            pass


def test_the_command_says_what_is_wrong_with_a_certificate(tmp_path: Path):
    program = Program(tmp_path)
    ended = program.run("serve", "--port", "0", "--tls-cert", "none.pem", "--tls-key", "none.pem")
    assert ended.code == 42 and "none.pem" in ended.err and "Traceback" not in ended.err
