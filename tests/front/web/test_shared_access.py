"""Two servers of a cluster, behind any load balancer: what one of them has issued or revoked holds at both."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assent.client import Api
from assent.client.http_client import Http
from assent.config import PushSettings
from assent.front.web.request_limits import RequestLimits
from assent.front.web.shared_tokens import SharedLoginCodes
from assent.postgres.postgres_log import PostgresLog
from support.push_service import PushService
from support.served import Served, refused
from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.spec("M3")]


@pytest.fixture
async def two(tmp_path: Path, database: str) -> AsyncIterator[tuple[Served, Served]]:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with (
        Served(tmp_path / "one", database=database) as one,
        Served(tmp_path / "other", database=database) as other,
    ):
        yield one, other


def anonymous(served: Served) -> Api:
    return Api(Http(served.address))


async def logged_in(at: Served, code_from: Served) -> str:
    code = code_from.server.login_address().partition("#code=")[2]
    await code_from.server.tokens.settled()
    api = anonymous(at)
    try:
        return (await api.post("/login", {"code": code}))["token"]
    finally:
        await api.close()


async def test_a_code_of_one_server_logs_in_at_another_and_the_login_is_valid_at_both(two: tuple[Served, Served]):
    one, other = two
    token = await logged_in(other, one)
    for served in two:
        assert (await served.api(token).get("/me"))["role"] == "operator"


async def test_a_code_works_once_at_all_servers_together(two: tuple[Served, Served]):
    one, other = two
    code = one.server.login_address().partition("#code=")[2]
    apis = [anonymous(served) for served in (one, other, one, other)]
    answers = await asyncio.gather(*(api.post("/login", {"code": code}) for api in apis), return_exceptions=True)
    assert sum(isinstance(answer, dict) for answer in answers) == 1
    for api in apis:
        await api.close()


async def test_what_is_revoked_at_one_server_is_refused_by_the_next_request_at_another(two: tuple[Served, Served]):
    one, other = two
    for _ in range(5):
        token = await logged_in(one, one)
        me = other.api(token)
        found = [one_token for one_token in (await me.get("/tokens"))["tokens"] if one_token["current"]]
        await one.api().ask("DELETE", f"/tokens/{found[0]['id']}")
        assert (await refused(me.get("/me"))).kind == "unauthenticated"


async def test_a_stream_at_one_server_ends_when_its_token_is_revoked_at_another(two: tuple[Served, Served]):
    one, other = two
    token = await logged_in(one, one)
    session = await other.api(token).create(prompt="go")
    events = other.api(token).events(session["id"], 0)
    await anext(events)
    await one.api(token).post("/logout", {})
    with pytest.raises(Exception, match=r"valid token|no longer valid"):
        async with asyncio.timeout(WAIT_LIMIT):
            async for _ in events:
                pass


async def test_a_named_token_is_valid_everywhere_and_its_name_is_taken_everywhere(two: tuple[Served, Served]):
    one, other = two
    token = one.token("bob", "approver")
    await one.server.tokens.settled()
    assert (await other.api(token).get("/me"))["name"] == "bob"
    with pytest.raises(ValueError, match="already a token named bob"):
        other.token("bob", "viewer")


async def test_the_token_of_a_servers_own_programs_ends_with_that_server_and_no_other(tmp_path: Path, database: str):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    async with Served(tmp_path / "one", database=database) as one:
        async with Served(tmp_path / "other", database=database) as other:
            assert (await refused(other.api(one.server.token).get("/me"))).kind == "unauthenticated"
        assert (await one.api().get("/me"))["role"] == "operator"


async def test_failed_logins_are_counted_at_all_servers_together(two: tuple[Served, Served]):
    api = [anonymous(served) for served in two]
    kinds = [(await refused(api[number % 2].post("/login", {"code": "guess"}))).kind for number in range(12)]
    assert kinds == ["unauthenticated"] * 10 + ["too-many-requests"] * 2
    for each in api:
        await each.close()


async def test_requests_are_counted_at_all_servers_together(tmp_path: Path, database: str):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    limits = RequestLimits(requests_per_second=0.001, burst=40)
    async with (
        Served(tmp_path / "one", database=database, limits=limits) as one,
        Served(tmp_path / "other", database=database, limits=limits) as other,
    ):
        token = one.token("bob", "viewer")
        await one.server.tokens.settled()
        apis = [served.api(token) for served in (one, other)]
        allowed = 0
        for number in range(60):
            try:
                await apis[number % 2].get("/me")
                allowed += 1
            except Exception as error:
                assert "too many requests" in str(error)
        assert allowed == 40


async def test_a_push_subscription_is_known_to_all_servers_and_each_question_is_pushed_once(
    tmp_path: Path, database: str
):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with PushService() as service:
        one, other = (Served(tmp_path / name, database=database) for name in ("one", "other"))
        one.push = other.push = PushSettings(delay=0, services=(service.origin,))
        async with one, other:
            token = await logged_in(one, one)
            keys = [(await served.api(token).get("/push"))["key"] for served in (one, other)]
            assert keys[0] == keys[1] != ""
            await one.api(token).post("/push", service.subscription)
            await other.server.tokens.refresh()
            pushes = [served.server.app_state.push for served in (one, other)]
            assert [push.is_used() for push in pushes] == [True, True]
            claimed = [await push._store.claims("question.waiting a1 t") for push in pushes]  # pyright: ignore[reportPrivateUsage]
            assert claimed == [True, False]


async def test_a_server_that_cannot_reach_the_database_lets_nobody_in(two: tuple[Served, Served]):
    one, _ = two
    token = await logged_in(one, one)
    api = one.api(token)
    await api.get("/me")
    await one.log._connections.close()  # pyright: ignore
    assert (await refused(api.get("/me"))).kind == "unavailable"


async def test_a_server_that_has_stopped_leaves_nothing_of_its_own_behind(tmp_path: Path, database: str):
    async with Served(tmp_path, database=database) as served:
        await served.api().get("/me")
        access = served.server.app_state.access
        access.uses.save([record.id for record in access.tokens.records()])
        await access.tokens.settled()
    log = PostgresLog(database)
    await log.records.refresh()
    assert not log.records.all("token") and not log.records.all("token-use")
    await log.close()


async def test_codes_that_nobody_used_are_removed_later(database: str):
    log, now = PostgresLog(database), [1_000_000.0]
    await log.records.refresh()
    codes = SharedLoginCodes(log.records, clock=lambda: now[0])
    codes.issue()
    now[0] += 86_401
    code = codes.issue()
    assert len(log.records.all("login-code")) == 1
    assert await codes.redeem(code) and not log.records.all("login-code")
    await log.close()
