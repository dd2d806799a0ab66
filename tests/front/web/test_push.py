"""Web push: encrypted for one browser, signed by the server, sent for waiting questions, and gone with the login."""

import asyncio
import time
from pathlib import Path

import pytest

from assent.app.push_messages import PushTarget, check, new_key, public_key, push_post
from assent.client import Api, ApiProblem
from assent.config import PushSettings
from assent.front.web.access_tokens import TokenStore
from assent.front.web.push_storage import PushFile
from assent.front.web.push_subscriptions import PushSubscriptions
from support.issued_tokens import issue
from support.push_service import PushService, verified
from support.served import Json, Served, until_waiting
from support.waiting import WAIT_LIMIT, until

with PushService() as _service:
    VALID = _service.subscription


def pushing(base: Path, *services: PushService) -> Served:
    """A server that pushes at once, also to services on this machine."""
    served = Served(base)
    served.push = PushSettings(delay=0, services=tuple(service.origin for service in services))
    return served


async def received(service: PushService) -> tuple[dict[str, str], Json]:
    async with asyncio.timeout(WAIT_LIMIT):
        return await asyncio.to_thread(service.next)


async def asked(api: Api) -> Json:
    session = await api.create(prompt="go")
    return (await until_waiting(api, session["id"]))[0]


@pytest.mark.spec("N5")
async def test_a_question_is_pushed_with_a_link_and_withdrawn_when_it_is_answered_elsewhere(tmp_path: Path):
    with PushService() as service:
        async with pushing(tmp_path, service) as served:
            api = served.api()
            key = (await api.get("/push"))["key"]
            assert await api.post("/push", service.subscription) == {"key": key, "subscribed": True}
            waiting = await asked(api)
            headers, told = await received(service)
            session, approval = waiting["session"]["id"], waiting["approval"]
            assert (told["event"], told["id"], told["session"]) == ("question.waiting", approval["id"], session)
            assert told["url"].endswith(f"/#/s/{session}/q/{approval['id']}")
            assert (headers["content-encoding"], headers["urgency"]) == ("aes128gcm", "high")
            assert int(headers["ttl"]) > 3600
            signer, claims = verified(headers["authorization"])
            assert (signer, claims["aud"]) == (key, service.origin)
            assert time.time() < claims["exp"] < time.time() + 24 * 3600
            assert claims["sub"].startswith("https://")
            await api.decide(session, waiting["call_id"], "cancel", approval["digest"])
            later, over = await received(service)
            assert (over["event"], over["id"], over["by"]) == ("question.answered", approval["id"], "refused by ann")
            assert later["topic"] == headers["topic"]  # replaces what was not delivered yet


@pytest.mark.spec("N5")
@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_is_gone_is_removed(tmp_path: Path, status: int):
    with PushService(status) as service:
        async with pushing(tmp_path, service) as served:
            await served.api().post("/push", service.subscription)
            await asked(served.api())
            await received(service)
            push = served.server.app_state.push
            await until(lambda: not push.is_used())


@pytest.mark.spec("N5")
async def test_a_subscription_ends_with_its_login_and_is_about_the_sessions_of_its_owner(tmp_path: Path):
    with PushService() as gone, PushService() as other:
        async with pushing(tmp_path, gone, other) as served:
            await served.api(served.token("eve", "approver", "eve")).post("/push", other.subscription)
            token = served.token("bob", "approver")
            await served.api(token).post("/push", gone.subscription)
            await served.api(token).post("/logout")
            await asked(served.api())
            push = served.server.app_state.push
            assert push.of("") == []
            assert len(push.of("eve")) == 1
            assert (gone.unread, other.unread) == (0, 0)


@pytest.mark.spec("H5")
@pytest.mark.parametrize(
    "endpoint",
    [
        "http://169.254.169.254/latest/meta-data",
        "https://127.0.0.1:8420/api/v1/logout",
        "http://fcm.googleapis.com/fcm/send/x",
        "https://fcm.googleapis.com.evil.example/x",
        "https://evil.example/fcm.googleapis.com",
        "https://fcm.googleapis.com:22/x",
        "https://user:pw@fcm.googleapis.com/x",
        "https://fcm.googleapis.com@evil.example/x",
        "https://push.apple.com/x",
        "https://[::1/x",
        "file:///etc/passwd",
        "",
    ],
)
def test_nobody_can_make_the_server_post_anywhere_but_to_a_push_service(tmp_path: Path, endpoint: str):
    push = PushSubscriptions(PushFile(tmp_path / "push.json"), PushSettings(), TokenStore(tmp_path / "tokens.json"), {})
    assert not push.accepts(endpoint)


def test_the_push_services_of_the_well_known_browsers_are_accepted(tmp_path: Path):
    push = PushSubscriptions(PushFile(tmp_path / "push.json"), PushSettings(), TokenStore(tmp_path / "tokens.json"), {})
    for host in ("fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"):
        assert push.accepts(f"https://{host}/some/path?x=1")
    assert push.accepts("https://db5p.notify.windows.com/w/?token=x")


@pytest.mark.spec("H5")
@pytest.mark.parametrize(
    "change", [{"auth": "AAAA"}, {"auth": "!"}, {"p256dh": "AAAA"}, {"p256dh": "BA" + "A" * 85}, {"endpoint": "x"}]
)
async def test_a_subscription_with_wrong_keys_or_no_push_service_is_refused(tmp_path: Path, change: dict[str, str]):
    with PushService() as service:
        async with pushing(tmp_path, service) as served:
            with pytest.raises(ApiProblem) as refused:
                await served.api().post("/push", service.subscription | change)
            assert refused.value.kind == "invalid"
            with pytest.raises(ApiProblem) as refused:
                await served.api(served.token("vic", "viewer")).post("/push", service.subscription)
            assert refused.value.kind == "forbidden"


async def test_the_key_and_the_subscriptions_survive_a_restart_in_a_file_of_the_user_alone(tmp_path: Path):
    path, tokens = tmp_path / "push.json", TokenStore(tmp_path / "tokens.json")
    first = PushSubscriptions(PushFile(path), PushSettings(), tokens, {})
    key = await first.public_key()
    principal = tokens.check(issue(tokens, "ann", "operator", owner=""))
    assert principal is not None
    await first.add(principal, PushTarget(**VALID))
    assert path.stat().st_mode & 0o777 == 0o600
    second = PushSubscriptions(PushFile(path), PushSettings(), tokens, {})
    assert (await second.public_key(), second.has(principal), len(second.of(""))) == (key, True, 1)


def test_messages_have_one_length_and_never_the_same_bytes():
    target, key = PushTarget(**VALID), new_key()
    check(target)
    posts = [push_post(target, text, "t", key, "https://x.example", 0.0).body for text in (b"{}", b"x" * 700, b"{}")]
    assert len({len(body) for body in posts}) == 1
    assert len(set(posts)) == 3
    assert len(public_key(key)) == 87
