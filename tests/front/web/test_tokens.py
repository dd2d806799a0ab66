"""Tokens and logins: each can be seen and revoked by itself, by those who may, and a revoked one ends at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.client import Api
from assent.client.http_client import Reply
from assent.front.web import event_stream
from assent.front.web.access_tokens import BadToken, TokenStore
from assent.front.web.request_limits import source_of
from assent.front.web.token_uses import TokenUses
from support.issued_tokens import issue
from support.program import Program
from support.served import Json, Served, refused
from support.waiting import WAIT_LIMIT

pytestmark = pytest.mark.spec("N4")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


async def tokens(api: Api) -> dict[str, Json]:
    """By name; the server's own is called `local`."""
    listed: list[Json] = (await api.get("/tokens"))["tokens"]
    return {one["name"] if one["kind"] != "local" else "local": one for one in listed}


async def log_in(served: Served, code: str | None = None) -> Json:
    code = served.server.login_address().rpartition("=")[2] if code is None else code
    return await served.api("").post("/login", {"code": code})


async def revoke(api: Api, token_id: str) -> None:
    await api.ask("DELETE", f"/tokens/{token_id}")


# --- the list ---


async def test_a_token_is_listed_with_everything_but_itself(served: Served):
    token = served.token("bob", "approver", owner="bob")
    await served.api(token).me()
    bob = (await tokens(served.api()))["bob"]
    assert bob["id"] and token not in str(bob)
    assert (bob["role"], bob["owner"], bob["kind"], bob["expires_at"]) == ("approver", "bob", "named", None)
    assert bob["created_at"] > 0 and bob["used_at"] >= bob["created_at"] and bob["used_from"] == "127.0.0.1"
    assert not bob["current"] and (await tokens(served.api()))["local"]["current"]


async def test_a_login_in_a_browser_is_listed_and_can_be_revoked_alone(served: Served):
    one, two = await log_in(served), await log_in(served)
    browsers = [token for token in (await served.api().get("/tokens"))["tokens"] if token["kind"] == "browser"]
    assert len(browsers) == 2 and all(browser["expires_at"] for browser in browsers)
    mine = served.api(one["token"])
    (current,) = [token for token in (await mine.get("/tokens"))["tokens"] if token["current"]]
    await revoke(served.api(two["token"]), current["id"])
    assert (await refused(mine.me())).status == 401
    assert (await served.api(two["token"]).me()) == two["me"]


async def test_the_servers_own_token_cannot_be_revoked(served: Served):
    api = served.api()
    problem = await refused(revoke(api, (await tokens(api))["local"]["id"]))
    assert problem.status == 409 and (await api.me())["role"] == "operator"


async def test_only_operators_see_tokens_and_only_those_of_their_owner(served: Served):
    for role in ("viewer", "approver"):
        other = served.api(served.token(role, role))  # pyright: ignore[reportArgumentType]
        assert (await refused(other.get("/tokens"))).status == 403
        assert (await refused(revoke(other, (await tokens(served.api()))["local"]["id"]))).status == 403
    eve = served.api(served.token("eve", "operator", owner="eve"))
    served.token("evan", "viewer", owner="eve")
    assert set(await tokens(eve)) == {"eve", "evan"}
    foreign = (await tokens(served.api()))["approver"]["id"]
    assert (await refused(revoke(eve, foreign))).status == 404
    assert "approver" in await tokens(served.api())


async def test_metrics_about_everyone_are_not_for_other_owners(served: Served):
    mine = served.token("mia", "viewer")
    theirs = served.token("eve", "operator", owner="eve")
    for token, status in ((mine, 200), (theirs, 403)):
        async for reply in served.api(token).http.stream("/metrics"):
            assert isinstance(reply, Reply) and reply.status == status
            break


# --- revoked means now ---


class Watching:
    """The stream of a token, until the server ends it."""

    def __init__(self, api: Api, session: str) -> None:
        self._api, self._session = api, session
        self.open = asyncio.Event()
        self.received = b""

    async def __call__(self) -> bytes:
        blocks: Any = self._api.http.stream(f"/api/v1/stream?session={self._session}:1")
        async with asyncio.timeout(WAIT_LIMIT), aclosing(blocks):
            async for block in blocks:
                if not isinstance(block, Reply):
                    self.received += block
                    self.open.set()
        return self.received


async def test_nothing_more_is_sent_once_another_process_revoked_the_token(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    """Without waiting for the regular check: the event itself must not go out."""
    monkeypatch.setattr(event_stream, "CHECK_SECONDS", 3600.0)
    api = served.api()
    session = (await api.create())["id"]
    watching = Watching(served.api(served.token("bob", "viewer")), session)
    stream = asyncio.create_task(watching())
    await watching.open.wait()
    TokenStore(served.home / "tokens.json").revoke(lambda record: record.name == "bob")
    await api.change(session, title="not for bob")
    received = await stream
    assert b"your token is no longer valid" in received
    assert b"not for bob" not in received


async def test_an_idle_stream_ends_soon_after_another_process_revoked_its_token(served: Served):
    api = served.api()
    session = (await api.create())["id"]
    watching = Watching(served.api(served.token("bob", "viewer")), session)
    stream = asyncio.create_task(watching())
    await watching.open.wait()
    TokenStore(served.home / "tokens.json").revoke(lambda record: record.name == "bob")
    assert b"your token is no longer valid" in await stream


async def test_an_expired_token_ends_its_stream(served: Served):
    api = served.api()
    session = (await api.create())["id"]
    now = [0.0]
    served.server.tokens._clock = lambda: now[0]  # pyright: ignore[reportPrivateUsage]
    token = issue(served.server.tokens, "bob", "viewer", seconds=10)
    watching = Watching(served.api(token), session)
    stream = asyncio.create_task(watching())
    await watching.open.wait()
    now[0] = 11.0
    assert b"your token is no longer valid" in await stream


def test_a_revoked_token_does_not_come_back_when_two_processes_write_at_once(tmp_path: Path):
    """The second has read the file before the first changes it."""
    one, two = TokenStore(tmp_path / "tokens.json"), TokenStore(tmp_path / "tokens.json")
    token = issue(one, "bob", "operator")
    assert two.check(token)
    one.revoke(lambda record: record.name == "bob")
    issue(two, "eve", "viewer")
    assert one.check(token) is None and two.check(token) is None


# --- creating ---


@pytest.mark.parametrize("seconds", [-86_400.0, 0.0, float("nan"), float("inf")])
def test_a_token_that_is_never_valid_is_an_error(tmp_path: Path, seconds: float):
    store = TokenStore(tmp_path / "tokens.json")
    with pytest.raises(BadToken, match="more than 0"):
        issue(store, "bob", "viewer", seconds=seconds)
    assert store.records() == []


def test_a_name_belongs_to_one_token_of_an_owner(tmp_path: Path):
    now = [0.0]
    store = TokenStore(tmp_path / "tokens.json", clock=lambda: now[0])
    issue(store, "bob", "viewer", seconds=10)
    with pytest.raises(BadToken, match="already a token named bob"):
        issue(store, "bob", "operator")
    issue(store, "bob", "viewer", owner="eve")
    now[0] = 11.0
    issue(store, "bob", "operator")


@pytest.mark.parametrize("name", ["", "a b", "ann@10.0.0.1", "a\nb", "x" * 65, "a\x1b[2J"])
def test_a_name_cannot_pass_for_someone_else_in_the_record(tmp_path: Path, name: str):
    with pytest.raises(BadToken):
        issue(TokenStore(tmp_path / "tokens.json"), name, "viewer")


def test_the_command_line_lists_and_revokes_one_by_one(tmp_path: Path):
    program = Program(tmp_path)
    bob = program.run("serve", "token", "add", "bob", "--role", "approver", "--days", "30").out.strip()
    program.run("serve", "token", "add", "eve", "--owner", "eve")
    again, never = (program.run("serve", "token", "add", *args) for args in (("bob",), ("joe", "--days", "-1")))
    assert again.code == 42 and "already a token named bob" in again.err
    assert never.code == 42 and "more than 0" in never.err
    lines = program.run("serve", "token", "list", "--json").out.splitlines()
    listed: dict[str, Json] = {one["name"]: one for one in map(msgspec.json.decode, lines)}
    assert {name: (one["role"], one["owner"]) for name, one in listed.items()} == {
        "bob": ("approver", ""),
        "eve": ("viewer", "eve"),
    }
    table = program.run("serve", "token", "list").out
    assert listed["bob"]["id"] in table and "LAST USED" in table and bob not in table
    assert program.run("serve", "token", "revoke", listed["bob"]["id"]).code == 0
    assert program.run("serve", "token", "revoke", "bob").code == 42
    assert TokenStore(program.home / "tokens.json").check(bob) is None


def test_two_tokens_of_one_name_are_revoked_by_their_ids(tmp_path: Path):
    program = Program(tmp_path)
    program.run("serve", "token", "add", "bob")
    program.run("serve", "token", "add", "bob", "--owner", "eve")
    ended = program.run("serve", "token", "revoke", "bob")
    assert ended.code == 42 and "give the id of one" in ended.err


def test_the_help_says_what_an_owner_isolates(tmp_path: Path):
    shown = " ".join(Program(tmp_path).run("serve", "token", "--help").out.split())
    assert "It does not isolate people from each other beyond that." in shown


def test_uses_are_kept_for_tokens_that_are_still_valid(tmp_path: Path):
    now = [5.0]
    uses = TokenUses(tmp_path / "token-uses.json", clock=lambda: now[0])
    uses.note("a", "127.0.0.1")
    uses.note("b", "10.0.0.1")
    uses.save(["a"])
    again = TokenUses(tmp_path / "token-uses.json")
    used = again.last("a")
    assert used is not None and (used.at, used.address) == (5.0, "127.0.0.1")
    assert again.last("b") is None
    assert (tmp_path / "token-uses.json").stat().st_mode & 0o777 == 0o600


# --- logins ---


async def test_wrong_codes_lock_nobody_out_not_even_from_the_same_address(served: Served):
    problems = [await refused(log_in(served, "wrong")) for _ in range(15)]
    assert {problem.status for problem in problems} == {401, 429}
    assert problems[-1].status == 429
    assert (await log_in(served))["role"] == "operator"


def test_the_addresses_of_one_ipv6_client_count_together():
    assert source_of("2001:db8::1") == source_of("2001:db8::ffff")
    assert source_of("2001:db8::1") != source_of("2001:db8:0:1::1")
    assert source_of("10.0.0.1") != source_of("10.0.0.2")
    assert source_of("unknown") == "unknown"
