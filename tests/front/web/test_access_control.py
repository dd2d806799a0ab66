"""Attacks on the server, all refused: other pages, other hosts, forms, forged ids, foreign sessions, roles, floods."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.client import Api, ApiProblem
from assent.front.web import request_timeouts
from assent.front.web.access_tokens import LoginCodes, TokenStore
from assent.front.web.request_limits import RequestLimits
from assent.front.web.web_server import BadPlace, Where, check_place, place_for
from support.issued_tokens import issue
from support.program import Program
from support.served import Json, Served, ServedProgram, until_waiting
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("H4")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


class Raw:
    """A response as it came."""

    def __init__(self, data: bytes) -> None:
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def json(self) -> Json:
        return msgspec.json.decode(self.body)


async def raw(served: Served, method: str, path: str, body: bytes = b"", **headers: str | None) -> Raw:
    """Exactly these headers (with - for _); None leaves one of the usual ones out."""
    host = served.address.removeprefix("http://")
    usual: dict[str, str | None] = {
        "Host": host,
        "Authorization": f"Bearer {served.server.token}",
        "Content-Type": "application/json" if body else None,
        "Content-Length": str(len(body)) if body else None,
        "Connection": "close",
    }
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = [f"{name}: {value}" for name, value in (usual | given).items() if value is not None]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.rpartition(":")[2]))
    writer.write("\r\n".join([f"{method} {path} HTTP/1.1", *fields, "", ""]).encode("latin-1") + body)
    data = await reader.read()
    writer.close()
    return Raw(data)


async def waiting(served: Served) -> tuple[Api, Json]:
    api = served.api()
    session = await api.create(prompt="go")
    return api, (await until_waiting(api, session["id"]))[0]


async def kind_of_refusal(work: Any) -> str:
    with pytest.raises(ApiProblem) as caught:
        await work
    return caught.value.kind


# --- who asks ---

PRIVATE = ("/api/v1/me", "/api/v1/sessions", "/api/v1/approvals", "/api/v1/stream", "/metrics", "/api/v1/nothing")


@pytest.mark.parametrize("path", PRIVATE)
async def test_without_a_valid_token_nothing_is_told(served: Served, path: str):
    for sent in (None, "Bearer wrong", "Basic YWRtaW46YWRtaW4=", "Bearer", served.server.token):
        answer = await raw(served, "GET", path, Authorization=sent)
        assert answer.status == 401, sent
        assert answer.json["type"] == "urn:assent:unauthenticated"


@pytest.mark.parametrize("name", ["token", "access_token", "auth_token", "TOKEN", "code"])
async def test_a_token_in_the_address_is_refused(served: Served, name: str):
    path = f"/api/v1/me?{name}={served.server.token}"
    assert (await raw(served, "GET", path, Authorization=None)).status == 400
    assert (await raw(served, "GET", path)).status == 400


async def test_a_login_code_works_once_and_there_are_no_cookies(served: Served):
    code = served.server.login_address().rpartition("=")[2]
    body = msgspec.json.encode({"code": code})
    answer = await raw(served, "POST", "/api/v1/login", body, Authorization=None)
    assert answer.status == 200 and "set-cookie" not in answer.headers
    token: str = answer.json["token"]
    assert (await raw(served, "GET", "/api/v1/me", Authorization=f"Bearer {token}")).status == 200
    assert (await raw(served, "POST", "/api/v1/login", body, Authorization=None)).status == 401
    assert (await raw(served, "POST", "/api/v1/logout", Authorization=f"Bearer {token}")).status == 204
    assert (await raw(served, "GET", "/api/v1/me", Authorization=f"Bearer {token}")).status == 401


async def test_codes_cannot_be_guessed_in_bulk(served: Served):
    tries = [raw(served, "POST", "/api/v1/login", b'{"code":"x"}', Authorization=None) for _ in range(20)]
    statuses = [answer.status for answer in await asyncio.gather(*tries)]
    assert statuses.count(401) == RequestLimits().failed_logins_per_minute
    assert set(statuses) == {401, 429}


async def test_a_code_is_worthless_after_its_time():
    now = [0.0]
    codes = LoginCodes(clock=lambda: now[0])
    code = codes.issue()
    now[0] = 61.0
    assert not await codes.redeem(code)


def test_tokens_are_kept_as_hashes_in_a_file_of_their_owner(tmp_path: Path):
    store = TokenStore(tmp_path / "tokens.json")
    token = issue(store, "bob", "viewer")
    assert token not in (tmp_path / "tokens.json").read_text()
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600
    again = TokenStore(tmp_path / "tokens.json")
    found = again.check(token)
    assert found is not None and (found.name, found.role) == ("bob", "viewer")
    again.revoke(lambda record: record.name == "bob")
    assert store.check(token) is None, "another process removed it"


def test_an_expired_token_is_none(tmp_path: Path):
    now = [0.0]
    store = TokenStore(tmp_path / "tokens.json", clock=lambda: now[0])
    token = issue(store, "bob", "viewer", seconds=10)
    assert store.check(token) is not None
    now[0] = 11.0
    assert store.check(token) is None


# --- from where ---


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost"])
async def test_another_host_name_is_refused(served: Served, host: str):
    port = served.address.rpartition(":")[2]
    for path in ("/", "/api/v1/me", "/healthz", "/openapi.json"):
        assert (await raw(served, "GET", path, Host=host.format(port=port))).status == 421


async def test_our_own_names_are_accepted(served: Served):
    port = served.address.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert (await raw(served, "GET", "/healthz", Host=f"{host}:{port}")).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "http://localhost", "null", "{https}"]
)
async def test_pages_of_other_origins_are_refused_also_on_another_port_of_this_machine(served: Served, origin: str):
    sent = origin.format(https=served.address.replace("http:", "https:"))
    assert (await raw(served, "GET", "/api/v1/me", Origin=sent)).status == 403
    assert (await raw(served, "POST", "/api/v1/sessions", b"{}", Origin=sent)).status == 403
    assert (await raw(served, "POST", "/api/v1/login", b'{"code":"x"}', Origin=sent, Authorization=None)).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
async def test_the_browser_says_when_another_page_asks(served: Served, site: str):
    assert (await raw(served, "GET", "/api/v1/me", Sec_Fetch_Site=site)).status == 403
    assert (await raw(served, "GET", "/page/js/app.js", Sec_Fetch_Site=site)).status == 403
    followed = await raw(served, "GET", "/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")
    framed = await raw(served, "GET", "/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe")
    assert (followed.status, framed.status) == (200, 403)


async def test_our_own_page_may_ask(served: Served):
    answer = await raw(served, "GET", "/api/v1/me", Origin=served.address, Sec_Fetch_Site="same-origin")
    assert answer.status == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"]
)
async def test_what_a_form_of_another_page_could_send_is_refused(served: Served, kind: str):
    answer = await raw(served, "POST", "/api/v1/sessions", b"{}", Content_Type=kind)
    assert answer.status == 415
    assert (await served.api().sessions())["total"] == 0


async def test_no_answer_allows_other_origins_and_all_forbid_inline_code(served: Served):
    for path in ("/", "/api/v1/me", "/api/v1/nothing", "/page/none.js"):
        answer = await raw(served, "OPTIONS" if path == "/api/v1/nothing" else "GET", path, Origin=served.address)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


# --- what ---


@pytest.mark.parametrize(
    "path",
    [
        "/page/../tokens.py",
        "/page/%2e%2e/tokens.py",
        "/page/..%2ftokens.py",
        "/page//etc/passwd",
        "/api/v1/sessions/../../me",
        "/api/v1/sessions/..%2f..%2fetc",
        "/api/v1/sessions/20261116-000000-0000000000000000%00",
        "/api/v1/sessions/" + "a" * 5000,
    ],
)
async def test_ids_and_paths_that_try_to_climb_find_nothing(served: Served, path: str):
    assert (await raw(served, "GET", path)).status in (400, 404)


async def test_a_body_that_is_too_large_is_refused_however_it_is_announced(tmp_path: Path):
    async with Served(tmp_path, limits=RequestLimits(body=100)) as served:
        large = b'{"title":"' + b"x" * 100 + b'"}'
        assert (await raw(served, "POST", "/api/v1/sessions", b"{}", Content_Length="9999999999")).status == 413
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(large), large)
        announced: dict[str, str | None] = {"Content_Length": None, "Transfer_Encoding": "chunked"}
        answer = await raw(served, "POST", "/api/v1/sessions", chunked, **announced)
        assert answer.status == 413
        assert (await served.api().sessions())["total"] == 0


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"text":1}', b'{"text":"a","by":"root"}', b'{"text":"\xff"}', b"null", b"[" * 9_999]
)
async def test_bodies_that_do_not_fit_are_named_and_change_nothing(served: Served, body: bytes):
    session = (await served.api().create())["id"]
    answer = await raw(served, "POST", f"/api/v1/sessions/{session}/messages", body)
    assert answer.status == 400 and answer.headers["content-type"] == "application/problem+json"
    assert len(await served.log.inbox(session)) == 0


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("sessions/nope", "there is no such session"),
        ("sessions/nope/events", "there is no such session"),
        (f"sessions/20261116-004200-9f86d081884c7d65/calls/{'c' * 300}", "there is no such call"),
    ],
)
async def test_an_id_that_nothing_could_have_is_not_found(served: Served, path: str, detail: str):
    answer = await raw(served, "GET", f"/api/v1/{path}")
    assert (answer.status, answer.json["type"], answer.json["detail"]) == (404, "urn:assent:not-found", detail)


async def test_a_parameter_that_does_not_fit_is_called_as_the_client_calls_it(served: Served):
    answer = await raw(served, "GET", f"/api/v1/sessions?query={'a' * 201}")
    assert answer.status == 400 and "query: " in answer.json["detail"]
    answer = await raw(served, "POST", "/api/v1/sessions", b"{}", **{"Idempotency-Key": "a b"})
    assert answer.status == 400 and "Idempotency-Key: " in answer.json["detail"]


async def test_a_message_without_words_is_no_message(served: Served):
    session = (await served.api().create())["id"]
    answer = await raw(served, "POST", f"/api/v1/sessions/{session}/messages", b'{"text":" \\n"}')
    assert (answer.status, answer.json["detail"]) == (422, "the message is empty")
    assert len(await served.log.inbox(session)) == 0


async def test_a_body_that_is_missing_is_asked_for(served: Served):
    answer = await raw(served, "POST", "/api/v1/sessions")
    assert (answer.status, answer.json["detail"]) == (400, "a JSON body is required")


async def test_nobody_can_fill_the_terminal_of_the_server(served: Served, caplog: pytest.LogCaptureFixture):
    await sends(served, b"nonsense\r\n\r\n")
    upgrade = await raw(served, "GET", "/api/v1/me", Connection="Upgrade, close", Upgrade="websocket")
    assert upgrade.status == 200 and not caplog.records


async def test_a_flood_is_slowed_down_and_too_many_streams_are_refused(tmp_path: Path):
    limits = RequestLimits(requests_per_second=1, burst=30, streams_of_one=2)
    async with Served(tmp_path, limits=limits) as served:
        api = served.api()
        streams = [api.http.stream("/api/v1/stream?overview=1") for _ in range(3)]
        statuses = [(await anext(stream)).status for stream in streams]  # pyright: ignore
        assert statuses == [200, 200, 503]
        for stream in streams:
            await stream.aclose()
        answers = await asyncio.gather(*(raw(served, "GET", "/api/v1/me") for _ in range(60)))
        assert {answer.status for answer in answers} == {200, 429}


async def test_a_connection_that_does_not_say_what_it_wants_is_closed(served: Served, monkeypatch: pytest.MonkeyPatch):
    patient = request_timeouts.HEAD_SECONDS
    port = int(served.address.rpartition(":")[2])
    whole = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for first, then in ((b"", b""), (b"", whole[:20]), (whole, whole[:20])):
        monkeypatch.setattr(request_timeouts, "HEAD_SECONDS", patient if first else 0.05)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        if first:
            assert b"200" in await reader.readuntil(b"\r\n\r\n")
        monkeypatch.setattr(request_timeouts, "HEAD_SECONDS", 0.05)
        writer.write(then)
        async with asyncio.timeout(WAIT_LIMIT):
            await reader.read()  # to its end
        writer.close()


async def sends(served: Served, *pieces: bytes) -> Raw:
    """Sends these, nothing more, and reads to the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(served.address.rpartition(":")[2]))
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    async with asyncio.timeout(WAIT_LIMIT):
        data = await reader.read()
    writer.close()
    return Raw(data)


def head(served: Served, method: str, path: str, *lines: str) -> bytes:
    host = served.address.removeprefix("http://")
    usual = (f"Host: {host}", f"Authorization: Bearer {served.server.token}", "Content-Type: application/json")
    return "\r\n".join([f"{method} {path} HTTP/1.1", *usual, *lines, "", ""]).encode()


def is_hardened(answer: Raw) -> bool:
    return "default-src 'none'" in answer.headers["content-security-policy"] and (
        answer.headers["x-content-type-options"] == "nosniff"
    )


async def test_a_body_that_trickles_in_is_given_up(tmp_path: Path):
    async with Served(tmp_path, limits=RequestLimits(body_seconds=1.0)) as served:
        for lines, body in ((["Content-Length: 99"], b"{"), (["Transfer-Encoding: chunked"], b"1\r\n{\r\n")):
            answer = await sends(served, head(served, "POST", "/api/v1/sessions", *lines), body)
            assert (answer.status, answer.json["type"]) == (408, "urn:assent:too-slow")
            assert answer.headers["connection"] == "close" and is_hardened(answer)
        assert (await served.api().sessions())["total"] == 0
        stream = served.api().http.stream("/api/v1/stream?overview=1")
        assert (await anext(stream)).status == 200  # pyright: ignore
        session = await served.api().create()  # a whole request has all the time it needs, and so has a stream
        frames = b"".join([block async for block in _some(stream, 2)])
        assert session and b"overview" in frames
        await stream.aclose()


async def _some(stream: AsyncIterator[Any], count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield await anext(stream)


async def test_a_head_that_trickles_in_is_told_so(served: Served, monkeypatch: pytest.MonkeyPatch):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(served.address.rpartition(":")[2]))
    writer.write(head(served, "GET", "/healthz"))
    first = Raw(await reader.readuntil(b"\r\n\r\n"))
    await reader.readexactly(int(first.headers["content-length"]))
    monkeypatch.setattr(request_timeouts, "HEAD_SECONDS", 0.05)  # for the next head, from its first byte on
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: ")
    async with asyncio.timeout(WAIT_LIMIT):
        answer = Raw(await reader.read())
    writer.close()
    assert first.status == 200
    assert (answer.status, answer.json["type"]) == (408, "urn:assent:too-slow") and is_hardened(answer)


async def test_a_head_without_an_end_is_cut_off(served: Served):
    answer = await sends(served, b"GET / HTTP/1.1\r\nX: ", b"x" * request_timeouts.HEAD_BYTES)
    assert (answer.status, answer.json["type"]) == (413, "urn:assent:too-large") and is_hardened(answer)


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nA B: c\r\n\r\n"])
async def test_what_is_no_http_is_refused_in_the_same_words(served: Served, garbage: bytes):
    answer = await sends(served, garbage)
    assert (answer.status, answer.json["type"]) == (400, "urn:assent:bad-request")
    assert answer.headers["content-type"] == "application/problem+json" and is_hardened(answer)


async def test_a_request_that_only_reads_has_no_body(served: Served):
    for path in ("/api/v1/me", "/api/v1/stream"):
        assert (await raw(served, "GET", path, b"{}")).status == 400


# --- whose ---


async def test_someone_elses_session_is_as_good_as_none(served: Served):
    _, mine = await waiting(served)
    session, call, digest = mine["session"]["id"], mine["call_id"], mine["approval"]["digest"]
    eve = served.api(served.token("eve", "operator", owner="eve"))
    assert (await eve.sessions())["total"] == (await eve.approvals())["total"] == 0
    for work in (
        eve.snapshot(session),
        eve.history(session),
        eve.decide(session, call, "proceed_once", digest),
        eve.say(session, "hi"),
        eve.delete(session),
        eve.fork(session),
        anext(eve.frames({session: 0})),
    ):
        assert await kind_of_refusal(work) == "not-found"


async def test_a_key_of_someone_with_the_same_name_makes_no_session_of_theirs_mine(served: Served):
    mine = served.api(served.token("ann", "operator"))
    theirs = served.api(served.token("ann", "operator", owner="eve"))
    sessions = [await api.post("/sessions", {}, "k") for api in (mine, theirs)]
    assert sessions[0]["id"] != sessions[1]["id"]
    assert [session["owner"] for session in sessions] == ["", "eve"]


async def test_a_decision_counts_for_its_session_and_its_digest_only(served: Served):
    api, one = await waiting(served)
    _, two = await waiting(served)
    assert one["approval"]["digest"] != two["approval"]["digest"]
    crossed = api.decide(two["session"]["id"], two["call_id"], "proceed_once", one["approval"]["digest"])
    assert await kind_of_refusal(crossed) == "digest-differs"
    assert not (served.folder / "a.txt").exists()


async def test_an_answer_that_is_played_again_has_no_second_effect(served: Served):
    api, one = await waiting(served)
    where = (one["session"]["id"], one["call_id"], "proceed_once", one["approval"]["digest"])
    await api.decide(*where, key="recorded")
    bob = served.api(served.token("bob", "operator"))
    assert await kind_of_refusal(bob.decide(*where, key="recorded")) == "already-decided"


async def test_a_viewer_only_looks(served: Served):
    _, one = await waiting(served)
    session = one["session"]["id"]
    viewer = served.api(served.token("vic", "viewer"))
    assert (await viewer.approvals())["total"] == 1
    for work in (
        viewer.decide(session, one["call_id"], "cancel", ""),
        viewer.say(session, "hi"),
        viewer.create(),
        viewer.cancel(session),
        viewer.change(session, mode="yolo"),
        viewer.delete(session),
        viewer.post(f"/sessions/{session}/commands", {"type": "submit", "text": "hi"}),
    ):
        assert await kind_of_refusal(work) == "forbidden"


async def test_an_approver_says_yes_once_or_no_and_nothing_more(served: Served):
    _, one = await waiting(served)
    session, call, digest = one["session"]["id"], one["call_id"], one["approval"]["digest"]
    bob = served.api(served.token("bob", "approver"))
    for work in (
        bob.decide(session, call, "proceed_always", digest),
        bob.decide(session, call, "proceed_once", digest, content="other"),
        bob.decide(session, call, "proceed_once", digest, args={"file_path": "b.txt", "content": ""}),
        bob.change(session, mode="yolo"),
        bob.say(session, "hi"),
        bob.post(f"/sessions/{session}/commands", {"type": "set_mode", "mode": "yolo"}),
        bob.post(
            f"/sessions/{session}/commands",
            {"type": "answer", "call_id": call, "outcome": "proceed_always", "digest": digest},
        ),
    ):
        assert await kind_of_refusal(work) == "forbidden"
    assert (await bob.decide(session, call, "proceed_once", digest))["state"] == "taken"


# --- where to listen ---


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
def test_it_does_not_listen_beyond_this_machine_in_the_clear(host: str):
    with pytest.raises(BadPlace, match="--tls-cert"):
        check_place(Where(host=host))
    check_place(Where(host=host, tls_cert="c", tls_key="k"))
    check_place(Where(host=host, behind_proxy="https://assent.example.org"))


def test_behind_a_proxy_only_its_own_address_is_ours():
    place = place_for(Where(host="0.0.0.0", behind_proxy="https://assent.example.org"), 8420)
    assert place.hosts == {"assent.example.org", "assent.example.org:443"}
    with pytest.raises(BadPlace):
        check_place(Where(host="0.0.0.0", behind_proxy="http://assent.example.org"))


def test_the_command_names_a_port_and_a_data_folder_that_cannot_be_used(tmp_path: Path):
    program = Program(tmp_path)
    ended = program.run("serve", "--port", "99999")
    assert ended.code == 42 and "from 0 to 65535" in ended.err
    (tmp_path / "file").touch()
    ended = program.run("serve", "--port", "0", env={"ASSENT_HOME": str(tmp_path / "file")})
    assert ended.code == 74 and ended.err.startswith(f"assent: cannot use the data folder {tmp_path}/file")


def test_a_second_server_is_refused_and_the_first_is_still_found(tmp_path: Path):
    program = Program(tmp_path)
    first = ServedProgram(program, "scripted:none")
    first.start()
    try:
        found = (program.home / "serve.json").read_bytes()
        second = program.run("serve", "--port", "0")
        assert second.code == 42 and f"running at {msgspec.json.decode(found)['url']}" in second.err
        assert (program.home / "serve.json").read_bytes() == found
    finally:
        first.kill()
    first.start()
    first.kill()


def test_the_command_refuses_an_open_port_and_makes_tokens_for_others(tmp_path: Path):
    program = Program(tmp_path)
    refused = program.run("serve", "--host", "0.0.0.0")
    assert refused.code == 42 and "--behind-proxy" in refused.err
    token = program.run("serve", "token", "add", "bob", "--role", "approver").out.strip()
    assert TokenStore(program.home / "tokens.json").check(token)
    assert "approver" in program.run("serve", "token", "list").out
    assert program.run("serve", "token", "remove", "bob").code == 0
    assert not TokenStore(program.home / "tokens.json").check(token)
