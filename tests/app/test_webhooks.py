"""Webhooks: told once, signed, tried again, and withdrawn when someone has answered."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec import Struct

from assent.app.question_notices import QuestionNotices
from assent.app.session_log import SessionInfo
from assent.app.webhook_formats import Post, QuestionNotice, post_for, signature
from assent.app.webhook_posting import post_until_taken
from assent.app.webhooks import Webhooks
from assent.approval import Approval, ExecDetails
from assent.config import Webhook
from assent.events import ApprovalAnswered, ApprovalRequested, CallInput, Envelope, Event
from assent.parts import InputWanted
from support.waiting import WAIT_LIMIT

SESSION = "20260101-000000-0123456789abcdef"
COMMAND = "rm -rf build"
APPROVAL = Approval(
    id="q1",
    digest="d",
    details=ExecDetails(
        command=COMMAND, roots=("rm",), directory="/home/ann/shop", risk="high", risk_reason="It deletes files."
    ),
    options=("proceed_once", "cancel"),
    why="no rule allows it",
)
ASKED = ApprovalRequested("c1", APPROVAL)
ANSWERED = ApprovalAnswered(call_id="c1", approval_id="q1", outcome="proceed_once", by="ann@127.0.0.1")
NOTICE = QuestionNotice(
    event="question.waiting",
    id="q1",
    session=SESSION,
    folder="shop",
    kind="exec",
    risk="high",
    text="May it run a command in shop? (high risk)",
    url="https://assent.example.org/#/s/x/q/q1",
    at=1_780_000_000.5,
)


class Got(Struct):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Answers with these statuses, one after the other, and then with 200."""

    def __init__(self, statuses: list[int]) -> None:
        self._statuses = statuses
        self._posts: asyncio.Queue[Got] = asyncio.Queue()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        self._posts.put_nowait(Got(head[0].split()[1], headers, body))
        status = self._statuses.pop(0) if self._statuses else 200
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async def next(self) -> Got:
        async with asyncio.timeout(WAIT_LIMIT):
            return await self._posts.get()

    @property
    def unread(self) -> int:
        return self._posts.qsize()


@asynccontextmanager
async def receiving(*statuses: int) -> AsyncGenerator[Receiver]:
    receiver = Receiver(list(statuses))
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook?key=1"
    async with server:
        yield receiver


async def find(session: str) -> SessionInfo:
    return SessionInfo(
        id=session, folder="/home/ann/shop", model="m", title="t", created_at=0.0, updated_at=0.0, events=1
    )


def webhooks(*hooks: Webhook, env: dict[str, str] | None = None) -> QuestionNotices:
    made = QuestionNotices(find, Webhooks(hooks, env or {}))
    made.address = "https://assent.example.org"
    return made


def happens(hooks: QuestionNotices, event: Event) -> None:
    hooks.on_event(Envelope(1, 0.0, SESSION, event))


@pytest.mark.spec("N5")
async def test_a_question_is_reported_signed_with_a_link_to_its_card_and_withdrawn_when_it_is_answered() -> None:
    async with receiving() as receiver:
        hook = Webhook(url=receiver.url, secret_variable="HOOK_SECRET", delay=0)
        hooks = webhooks(hook, env={"HOOK_SECRET": "s3cret"})
        happens(hooks, ASKED)
        asked = await receiver.next()
        happens(hooks, ANSWERED)
        answered = await receiver.next()
        await hooks.close()
    told = msgspec.json.decode(asked.body, type=QuestionNotice)
    assert asked.path == "/hook?key=1"
    assert told.url == f"https://assent.example.org/#/s/{SESSION}/q/q1"
    assert (told.event, told.kind, told.risk) == ("question.waiting", "exec", "high")
    assert COMMAND not in asked.body.decode()
    signed = signature("s3cret", asked.headers["x-assent-timestamp"], asked.body)
    assert asked.headers["x-assent-signature"] == signed
    after = msgspec.json.decode(answered.body, type=QuestionNotice)
    assert (after.event, after.id, after.by) == ("question.answered", "q1", "approved by ann")


@pytest.mark.spec("N5")
async def test_a_command_that_waits_for_a_password_is_reported_without_its_words_and_withdrawn_when_it_goes_on() -> (
    None
):
    async with receiving() as receiver:
        hooks = webhooks(Webhook(url=receiver.url, delay=0))
        happens(hooks, CallInput("call-of-the-model", InputWanted("Password of ann:", 1, secret=True)))
        asked = await receiver.next()
        happens(hooks, CallInput("call-of-the-model"))
        answered = await receiver.next()
        await hooks.close()
    told = msgspec.json.decode(asked.body, type=QuestionNotice)
    assert (told.event, told.kind, told.text) == (
        "question.waiting",
        "input",
        "A command in shop is waiting for input.",
    )
    assert told.url == f"https://assent.example.org/#/s/{SESSION}"
    assert b"Password" not in asked.body and b"call-of-the-model" not in asked.body
    after = msgspec.json.decode(answered.body, type=QuestionNotice)
    assert (after.event, after.id, after.by) == ("question.answered", told.id, "no longer waiting")


@pytest.mark.spec("N5")
async def test_a_question_that_is_answered_soon_is_not_reported() -> None:
    async with receiving() as receiver:
        hooks = webhooks(Webhook(url=receiver.url, delay=3600))
        happens(hooks, ASKED)
        await asyncio.sleep(0)
        happens(hooks, ANSWERED)
        await hooks.close()
        assert receiver.unread == 0


@pytest.mark.spec("N5")
async def test_what_was_not_accepted_is_sent_again_and_a_refusal_is_not(caplog: pytest.LogCaptureFixture) -> None:
    post = Post((("Content-Type", "application/json"),), b"{}")
    async with receiving(503, 429) as receiver:
        assert await post_until_taken(receiver.url, post, {}, first_pause=0.001) == 200
        assert receiver.unread == 3
    said = [record.getMessage() for record in caplog.records if record.name == "assent.webhooks"]
    assert said == ["could not notify 127.0.0.1: it answered with status 503; trying again"]
    async with receiving(404) as receiver:
        assert await post_until_taken(receiver.url, post, {}, first_pause=0.001) == 404
        assert receiver.unread == 1


async def test_sessions_of_another_owner_are_not_reported() -> None:
    async with receiving() as receiver, receiving() as mine:
        hooks = webhooks(Webhook(url=receiver.url, delay=0, owner="bob"), Webhook(url=mine.url, delay=0))
        happens(hooks, ASKED)
        await mine.next()
        await hooks.close()
        assert receiver.unread == 0


@pytest.mark.spec("N5")
def test_ntfy_and_slack_get_their_own_formats() -> None:
    ntfy = post_for(Webhook(url="https://ntfy.example/t", format="ntfy"), NOTICE, "tk_1")
    headers = dict(ntfy.headers)
    assert ntfy.body.decode() == NOTICE.text
    assert (headers["Click"], headers["Priority"], headers["X-Sequence-ID"]) == (NOTICE.url, "high", "q1")
    assert headers["Authorization"] == "Bearer tk_1"
    slack = post_for(Webhook(url="https://hooks.slack.example/x", format="slack"), NOTICE, "")
    text = msgspec.json.decode(slack.body)["text"]
    assert text == f"{NOTICE.text} <{NOTICE.url}|Open the question>"


def test_the_settings_name_a_webhook_with_a_url() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": "ftp://x"}, Webhook)
