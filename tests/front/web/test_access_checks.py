"""Each access check by itself: one request passes, and the one that differs in a single thing does not."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from assent.front.web.access_tokens import LoginCodes, Principal, TokenRecord, TokenStore
from assent.front.web.request_limits import Bucket, RequestLimits, request_rates
from assent.front.web.security import (
    CALLER,
    HEADERS,
    LOGIN,
    PRINCIPAL,
    STREAM,
    AccessControl,
    Message,
    Place,
    Receive,
    Scope,
    Send,
    place_of,
)
from assent.front.web.server_log import no_log
from assent.front.web.token_uses import TokenUses
from assent.front.web.traffic import Traffic
from support.issued_tokens import issue

pytestmark = pytest.mark.spec("H4")

PLACE = place_of("http", ["127.0.0.1"], 8420)
ME = "/api/v1/me"
JSON = (b"content-type", b"application/json")
Header = tuple[bytes, bytes]


class Inside:
    """What lies behind the door: takes the whole body and says 204, but not before it is `open`."""

    def __init__(self) -> None:
        self.seen: list[Scope] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope)
        if scope["type"] == "lifespan":
            return
        while (await receive()).get("more_body"):
            pass
        await self.open.wait()
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body", "body": b""})


class Answer:
    def __init__(self, sent: Sequence[Message]) -> None:
        self.status: int = sent[0]["status"]
        self.headers: dict[bytes, bytes] = dict(sent[0]["headers"])
        self.length = len(sent[1]["body"])
        self.detail: str = msgspec.json.decode(sent[1]["body"])["detail"] if self.status >= 400 else ""


class AnyCaller:
    """A program at the other end of which nobody has to be afraid."""

    why = ""

    async def why_refused(self) -> str:
        return self.why


class Entry:
    """A door with a token for it."""

    def __init__(self, folder: Path, limits: RequestLimits | None = None, place: Place = PLACE) -> None:
        self.inside = Inside()
        self.caller = AnyCaller()
        self.tokens = TokenStore(folder / "tokens.json")
        self.token = issue(self.tokens, "bob", "viewer")
        self.traffic = Traffic()
        self.uses = TokenUses(folder / "token-uses.json")
        self.door = AccessControl(
            self.inside, place, self.tokens, self.uses, limits or RequestLimits(), self.traffic, no_log()
        )

    async def ask(
        self,
        path: str = ME,
        *headers: Header,
        method: str = "GET",
        query: bytes = b"",
        body: Sequence[bytes] = (b"",),
        host: bytes | None = b"127.0.0.1:8420",
        token: str | None = None,
        is_cut: bool = False,
    ) -> Answer:
        sent: list[Message] = []
        pieces = [{"type": "http.request", "body": piece, "more_body": True} for piece in body]
        pieces[-1]["more_body"] = is_cut
        usual = [(b"authorization", f"Bearer {self.token if token is None else token}".encode())]
        usual += [] if host is None else [(b"host", host)]
        scope: Scope = {"type": "http", "path": path, "method": method, "query_string": query, CALLER: self.caller}
        scope["headers"] = [*(header for header in usual if header[1] != b"Bearer "), *headers]

        async def receive() -> Message:
            if not pieces:
                await asyncio.Event().wait()  # for ever
            return pieces.pop(0)

        async def send(message: Message) -> None:
            sent.append(message)

        await self.door(scope, receive, send)
        return Answer(sent)

    async def status(self, path: str = ME, *headers: Header, method: str = "GET", query: bytes = b"") -> int:
        return (await self.ask(path, *headers, method=method, query=query)).status

    async def post(self, *headers: Header, body: Sequence[bytes] = (b"{}",), path: str = "/api/v1/sessions") -> int:
        return (await self.ask(path, *headers, method="POST", body=body)).status


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    return Entry(tmp_path)


# --- what we are called ---


def test_only_the_usual_port_may_be_left_out():
    assert place_of("https", ["a.example"], 443).origins == {"https://a.example", "https://a.example:443"}
    assert place_of("http", ["a.example"], 80).hosts == {"a.example", "a.example:80"}
    assert place_of("https", ["a.example"], 80).hosts == {"a.example:80"}
    assert place_of("http", ["a.example", "::1"], 443).hosts == {"a.example:443", "[::1]:443"}
    assert place_of("http", ["A.Example"], 1).hosts == {"a.example:1"}, "as clients write it"
    assert (place_of("https", [], 1).secure, place_of("http", [], 1).secure) == (True, False)


async def test_the_host_must_be_ours_in_any_case_and_must_be_there(tmp_path: Path):
    entry = Entry(tmp_path, place=place_of("http", ["localhost"], 8420))
    assert (await entry.ask(host=b"LocalHost:8420")).status == 204
    assert (await entry.ask(host=b"localhost:8421")).status == 421
    assert (await entry.ask(host=None)).status == 421
    assert len(entry.inside.seen) == 1


async def test_only_our_own_origin_or_none_comes_in(entry: Entry):
    assert await entry.status() == 204
    assert await entry.status(ME, (b"origin", b"http://127.0.0.1:8420")) == 204
    for origin in (b"https://127.0.0.1:8420", b"http://127.0.0.1:8421", b"null", b""):
        assert await entry.status(ME, (b"origin", origin)) == 403
    assert len(entry.inside.seen) == 2


async def test_only_our_own_page_or_no_page_comes_in(entry: Entry):
    for site, status in ((b"same-origin", 204), (b"none", 204), (b"same-site", 403), (b"cross-site", 403), (b"", 403)):
        assert await entry.status(ME, (b"sec-fetch-site", site)) == status


async def test_a_link_to_the_page_may_be_followed_and_to_nothing_else(entry: Entry):
    site, mode, dest = (b"sec-fetch-site", b"cross-site"), (b"sec-fetch-mode", b"navigate"), b"sec-fetch-dest"
    document = (dest, b"document")
    assert await entry.status("/", site, mode, document) == 204
    assert await entry.status("/", site, mode, document, method="POST") == 403
    assert await entry.status(ME, site, mode, document) == 403
    assert await entry.status("/page/app.js", site, mode, document) == 403
    assert await entry.status("/", site, mode, (dest, b"iframe")) == 403
    assert await entry.status("/", site, document) == 403
    assert await entry.status("/", site, mode) == 403


@pytest.mark.parametrize("name", ["host", "origin", "authorization", "content-type", "content-length"])
async def test_a_header_that_could_be_read_two_ways_may_come_once(entry: Entry, name: str):
    values = {"host": b"127.0.0.1:8420", "origin": b"http://127.0.0.1:8420", "content-length": b"0"}
    values |= {"authorization": f"Bearer {entry.token}".encode(), "content-type": b"application/json"}
    again = (name.encode(), values[name])
    twice = [again] if name in ("host", "authorization") else [again, again]
    answer = await entry.ask(ME, *twice)
    assert (answer.status, answer.detail) == (400, f"the header {name} must not be repeated")
    assert await entry.status(ME, *twice[1:]) == 204


async def test_a_header_that_may_repeat_may_come_twice(entry: Entry):
    assert await entry.status(ME, (b"accept", b"a/b"), (b"accept", b"c/d")) == 204


# --- who ---


@pytest.mark.parametrize("path", ["/", "/page/js/app.js", "/healthz", "/readyz", "/openapi.json", "/favicon.ico"])
async def test_what_everyone_may_see_needs_no_token(entry: Entry, path: str):
    assert (await entry.ask(path, token="")).status == 204
    assert PRINCIPAL not in entry.inside.seen[0]


@pytest.mark.parametrize("path", [ME, STREAM, "/metrics", "/page", "/pages/x", "//", "/healthz/x", f"{LOGIN}/x"])
async def test_everything_else_needs_one(entry: Entry, path: str):
    answer = await entry.ask(path, token="")
    assert (answer.status, answer.headers[b"www-authenticate"]) == (401, b"Bearer")
    assert entry.inside.seen == []
    assert await entry.status(path) == 204
    assert entry.inside.seen[0][PRINCIPAL].name == "bob"


async def test_a_token_comes_as_bearer_and_not_otherwise(entry: Entry):
    for kind, status in ((b"Bearer", 204), (b"bearer", 204), (b"Basic", 401), (b"Token", 401), (b"", 401)):
        sent = (b"authorization", kind + b" " + entry.token.encode())
        assert (await entry.ask(ME, sent, token="")).status == status
    assert (await entry.ask(token="wrong")).status == 401


@pytest.mark.parametrize("name", ["token", "access_token", "auth_token", "bearer", "authorization", "code", "Token"])
async def test_no_secret_is_taken_from_an_address(entry: Entry, name: str):
    for query in (name, f"{name}=x", f"a=b&{name}=x"):
        assert await entry.status("/", query=query.encode()) == 400
    assert await entry.status("/", query=f"my{name}=x&a={name}".encode()) == 204


async def test_a_login_needs_no_token_and_has_a_short_body(entry: Entry):
    assert (await entry.ask(LOGIN, token="")).status == 204
    assert await entry.post(JSON, body=[b"x" * 4_000], path=LOGIN) == 204
    assert await entry.post(JSON, body=[b"x" * 4_001], path=LOGIN) == 413


async def test_who_asks_too_often_is_slowed_down_alone(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(requests_per_second=0, burst=2))
    assert [await entry.status() for _ in range(3)] == [204, 204, 429]
    other = issue(entry.tokens, "eve", "viewer")
    assert (await entry.ask(token=other)).status == 204
    assert (await entry.ask("/")).status == 204


# --- how much ---


async def test_only_json_may_be_sent(entry: Entry):
    assert await entry.post(JSON, (b"content-length", b"2")) == 204
    assert await entry.post((b"content-type", b" Application/JSON ; charset=utf-8"), (b"content-length", b"2")) == 204
    assert await entry.post((b"content-length", b"2")) == 415
    assert await entry.post((b"transfer-encoding", b"chunked")) == 415
    assert await entry.post((b"content-type", b"text/plain"), body=[b""]) == 415, "a form without a body"
    assert await entry.post(body=[b""]) == 204
    assert await entry.post((b"content-length", b"0"), body=[b""]) == 204


@pytest.mark.parametrize(("method", "status"), [("GET", 204), ("HEAD", 204), ("DELETE", 415), ("PUT", 415)])
async def test_what_a_question_says_of_its_kind_does_not_matter(entry: Entry, method: str, status: int):
    assert await entry.status(ME, (b"content-type", b"text/plain"), method=method) == status


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_question_has_no_body(entry: Entry, method: str):
    for header, status in ((b"content-length", b"1"), 400), ((b"content-length", b"00"), 204):
        assert await entry.status(ME, header, method=method) == status
    assert await entry.status(ME, (b"transfer-encoding", b"chunked"), method=method) == 400
    assert await entry.post((b"content-length", b"00"), body=[b""]) == 204


async def test_a_body_that_does_not_come_in_time_is_given_up(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(body_seconds=0))
    answer = await entry.ask("/api/v1/sessions", JSON, method="POST", is_cut=True)
    assert (answer.status, answer.detail) == (408, "the body must arrive within 0 seconds")
    assert await entry.post(JSON) == 204


async def test_a_client_whose_body_has_come_may_be_quiet_for_long(tmp_path: Path):
    told: list[str] = []

    async def patient(scope: Scope, receive: Receive, send: Send) -> None:
        told.extend([(await receive())["type"] for _ in range(2)])

    async def receive() -> Message:
        for _ in range(10 * len(told_before)):
            await asyncio.sleep(0)
        told_before.append(1)
        return {"type": "http.disconnect"} if len(told_before) > 1 else {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    told_before: list[int] = []
    tokens, uses = TokenStore(tmp_path / "tokens.json"), TokenUses(tmp_path / "token-uses.json")
    door = AccessControl(patient, PLACE, tokens, uses, RequestLimits(body_seconds=0), Traffic(), no_log())
    headers = [(b"host", b"127.0.0.1:8420")]
    await door({"type": "http", "path": "/", "method": "GET", "query_string": b"", "headers": headers}, receive, send)
    assert told == ["http.request", "http.disconnect"]


async def test_a_program_of_ours_reads_and_changes_nothing(entry: Entry):
    entry.caller.why = "Assent started it"
    assert [await entry.status(method=method) for method in ("GET", "HEAD", "OPTIONS")] == [204] * 3
    assert [await entry.status(method=method) for method in ("POST", "PUT", "PATCH", "DELETE")] == [403] * 4
    assert (await entry.ask(LOGIN, method="POST")).detail == "Assent started it"


async def test_a_length_must_be_a_number_and_not_too_large(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(body=100))
    for length, status in ((b"100", 204), (b"101", 413), (b"-1", 400), (b"x", 400), (b"", 400), (b"1 2", 400)):
        assert await entry.post(JSON, (b"content-length", length)) == status


async def test_a_body_without_a_length_is_counted(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(body=100))
    assert await entry.post(JSON, body=[b"x" * 60, b"x" * 40]) == 204
    assert await entry.post(JSON, body=[b"x" * 60, b"x" * 41]) == 413


async def test_messages_decisions_and_uploads_may_be_larger(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(body=10, large_body=20, upload_body=30))
    for path, most in (
        ("/x/messages", 20),
        ("/x/decision", 20),
        ("/x/uploads", 30),
        ("/x/messages/y", 10),
        ("/x/decisions", 10),
    ):
        assert await entry.post(JSON, body=[b"x" * most], path=path) == 204
        assert await entry.post(JSON, body=[b"x" * most, b"x"], path=path) == 413
        assert await entry.post(JSON, (b"content-length", b"%d" % most), path=path) == 204
        assert await entry.post(JSON, (b"content-length", b"%d" % (most + 1)), path=path) == 413


async def test_only_so_many_requests_are_under_way_and_streams_are_not_counted(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(requests=2))
    entry.inside.open.clear()
    streams = [asyncio.create_task(entry.ask(STREAM)) for _ in range(3)]
    others = [asyncio.create_task(entry.ask("/")) for _ in range(2)]
    await asyncio.sleep(0)
    assert len(entry.inside.seen) == 5
    answer = await entry.ask("/")
    assert (answer.status, answer.headers[b"retry-after"]) == (503, b"1")
    entry.inside.open.set()
    assert {answer.status for answer in await asyncio.gather(*streams, *others)} == {204}
    assert {await entry.status("/") for _ in range(5)} == {204}


# --- what goes out ---


async def test_every_answer_has_the_headers_that_keep_the_page_in(entry: Entry):
    for answer in (await entry.ask("/"), await entry.ask(), await entry.ask(token="")):
        assert set(HEADERS) <= set(answer.headers.items())
        assert b"strict-transport-security" not in answer.headers
    assert entry.traffic.answered == {204: 2, 401: 1}


async def test_a_connection_on_which_the_rest_of_a_body_may_come_is_closed(tmp_path: Path):
    entry = Entry(tmp_path, RequestLimits(body=10, body_seconds=0))
    slow = await entry.ask("/api/v1/sessions", JSON, method="POST", is_cut=True)
    large = await entry.ask("/api/v1/sessions", JSON, method="POST", body=[b"x" * 11])
    assert [(answer.status, answer.headers.get(b"connection")) for answer in (slow, large, await entry.ask())] == [
        (408, b"close"),
        (413, b"close"),
        (204, None),
    ]


async def test_only_the_page_is_kept_by_a_browser(entry: Entry):
    for path, cache in (("/", b"no-cache"), ("/page/x.js", b"no-cache"), (ME, b"no-store"), ("/healthz", b"no-store")):
        assert (await entry.ask(path)).headers[b"cache-control"] == cache


async def test_where_there_is_tls_there_will_be_nothing_else(tmp_path: Path):
    entry = Entry(tmp_path, place=place_of("https", ["127.0.0.1"], 8420))
    assert b"strict-transport-security" in (await entry.ask()).headers


async def test_a_problem_says_how_long_it_is_and_only_then_what_to_do(entry: Entry):
    answer = await entry.ask(query=b"token=x")
    assert answer.headers[b"content-length"] == str(answer.length).encode()
    assert answer.headers[b"content-type"] == b"application/problem+json"
    assert not {b"www-authenticate", b"retry-after"} & set(answer.headers)


async def test_the_server_may_start_and_end_and_other_protocols_find_nobody(entry: Entry):
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    await entry.door({"type": "lifespan"}, receive, send)
    await entry.door({"type": "websocket"}, receive, send)
    assert [scope["type"] for scope in entry.inside.seen] == ["lifespan"]
    assert sent == [{"type": "websocket.close", "code": 1008}]


# --- tokens, codes and buckets ---


def test_a_bucket_fills_up_again_and_never_holds_more_than_at_first():
    now = [0.0]
    bucket = Bucket(2.0, 3, clock=lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.25
    assert not bucket.take(), "half of one is none"
    now[0] = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 1000.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


async def test_the_client_that_came_first_is_forgotten_when_there_are_too_many():
    rates = request_rates(RequestLimits(requests_per_second=0, burst=1, clients=2))
    assert [await rates.allows(who) for who in ("a", "b", "a", "b")] == [True, True, False, False]
    assert await rates.allows("c")
    assert not await rates.allows("b")
    assert await rates.allows("a"), "it was forgotten and begins anew"


def test_each_role_may_what_those_before_it_may():
    roles = ("viewer", "approver", "operator")
    may = [[Principal("bob", mine).may(asked) for asked in roles] for mine in roles]
    assert may == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def store(tmp_path: Path, now: list[float]) -> TokenStore:
    return TokenStore(tmp_path / "tokens.json", clock=lambda: now[0])


def test_a_token_is_good_until_its_very_second(store: TokenStore, now: list[float]):
    token = issue(store, "bob", "viewer", seconds=10)
    holder = store.check(token)
    assert holder is not None
    now[0] = 109.9
    assert store.check(token) and store.holds(holder)
    now[0] = 110.0
    assert store.check(token) is None and not store.holds(holder)


def test_a_token_without_an_end_stays_good_until_it_is_taken_away(store: TokenStore, now: list[float]):
    token, other = issue(store, "bob", "viewer"), issue(store, "eve", "operator", owner="eve", kind="browser")
    bob, eve = store.check(token), store.check(other)
    assert bob and eve and (eve.owner, eve.role, bob.owner) == ("eve", "operator", "")
    now[0] = 1e12
    assert store.holds(bob) and store.holds(eve)
    assert [record.kind for record in store.revoke(lambda record: record.kind == "browser")] == ["browser"]
    assert store.holds(bob) and not store.holds(eve) and store.check(other) is None


def test_what_has_expired_is_not_written_again(store: TokenStore, now: list[float], tmp_path: Path):
    issue(store, "bob", "viewer", seconds=10)
    issue(store, "eve", "viewer", seconds=20)
    issue(store, "ann", "viewer")
    now[0] = 110.0
    issue(store, "joe", "viewer")
    found = msgspec.json.decode((tmp_path / "tokens.json").read_bytes(), type=list[TokenRecord])
    assert [record.name for record in found] == ["eve", "ann", "joe"]


def test_what_two_processes_write_does_not_take_the_others_tokens_away(store: TokenStore, tmp_path: Path):
    other = TokenStore(tmp_path / "tokens.json")
    mine, theirs = issue(store, "bob", "viewer"), issue(other, "eve", "viewer")
    also_mine = issue(store, "bill", "viewer")
    assert all(found.check(token) for found in (store, other) for token in (mine, theirs, also_mine))
    bob = store.check(issue(store, "bo", "viewer"))
    assert len(other.revoke(lambda record: record.name.startswith("b"))) == 3, "also what it has not read yet"
    assert bob and not store.holds(bob)
    assert [record.name for record in TokenStore(tmp_path / "tokens.json").records()] == ["eve"]


def test_taking_nothing_away_writes_nothing(store: TokenStore, tmp_path: Path):
    assert store.revoke(lambda _: True) == []
    assert not (tmp_path / "tokens.json").exists()


def test_without_its_file_no_token_is_good(store: TokenStore, tmp_path: Path):
    token = issue(store, "bob", "viewer")
    (tmp_path / "tokens.json").unlink()
    assert store.check(token) is None


async def test_a_code_works_once_until_its_very_second(now: list[float]):
    codes = LoginCodes(clock=lambda: now[0], seconds=10)
    first, second, third = codes.issue(), codes.issue(), codes.issue()
    assert await codes.redeem(first) and not await codes.redeem(first) and not await codes.redeem("guess")
    now[0] = 109.9
    assert await codes.redeem(second)
    now[0] = 110.0
    assert not await codes.redeem(third)
