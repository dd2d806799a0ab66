"""The table of failures in docs/models.md, row by row, on every wire format: what is tried again, what happens to the
turn, and what the person is told. Row K4.
"""

import re
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from assent.commands import Submit
from assent.events import Attached, CallRequested, ChatCompressed, ModelReplied, ModelRetry, TurnFinished
from assent.models.model_choice import access_to
from assent.models.model_protocol import Model
from assent.models.provider_registry import find_provider, split_name
from assent.models.proxy import Proxy
from assent.models.streaming_client import Timeouts
from assent.parts import Media, Text
from support.certs import make_certificate
from support.fake_server import FakeServer
from support.provider_errors import ATTEMPTS, ROWS, STALE, TOO_LONG, malformed
from support.raw_server import RawServer
from support.session_harness import SessionHarness
from support.wire_formats import FORMATS, Spoken

pytestmark = pytest.mark.spec("K4")

DOCS = Path(__file__).parents[2] / "docs" / "models.md"
Json = dict[str, Any]
formats = pytest.mark.parametrize("spoken", FORMATS.values(), ids=FORMATS)


PICTURE = "iVBORw0KGgo="
HERE = {"chunks": [{"text": "Here."}]}
CHECK = "Check your network, the base URL, and whether the server is running; then try again, or choose another model"


# --- what happens in a session ---


async def near(name: str) -> list[str]:
    return [name, "near-1", "near-2"]


class Told(Struct, frozen=True):
    finished: TurnFinished
    harness: SessionHarness

    @property
    def message(self) -> str:
        return self.finished.failure.message if self.finished.failure is not None else ""

    @property
    def reasons(self) -> list[str]:
        """Why it was tried again, as the person reads it meanwhile."""
        return [envelope.event.reason for envelope in self.harness.events if isinstance(envelope.event, ModelRetry)]


async def ask(model: Model, prompts: int = 1, **options: Any) -> Told:
    harness = SessionHarness()
    harness.real = model
    harness.options |= {"nearest_models": near} | options
    async with await harness.open() as runner:
        for count in range(1, prompts + 1):
            await harness.send(runner, Submit("go"))
            await harness.until_done(count)
    await model.close()
    return Told(harness.recorded(TurnFinished)[-1], harness)


def connect(spoken: Spoken, url: str, timeouts: Timeouts | None = None, proxy: Proxy | None = None) -> Model:
    provider_name, model = split_name(spoken.model)
    provider = find_provider(provider_name)
    access = access_to(provider, {spoken.key_variable: "test-key-123", spoken.base_url_variable: url})
    return provider.connect(model, replace(access, timeouts=timeouts, proxy=proxy))


def failed(told: Told, kind: str, words: str, advice: str) -> None:
    assert told.finished.status == "failed" and told.finished.failure is not None
    assert told.finished.failure.type == kind
    assert re.search(words, told.message) and re.search(advice, told.message), told.message
    assert "test-key-123" not in told.message


@formats
@pytest.mark.parametrize("row", ROWS)
async def test_what_a_provider_refuses_is_told_with_what_to_do_next(spoken: Spoken, row: str) -> None:
    expected = ROWS[row]
    reply = expected.replies[_name(spoken)]
    async with spoken.serve(*[reply] * ATTEMPTS) as fake:
        told = await ask(spoken.open(fake))
    failed(told, expected.kind, expected.told, expected.next)
    assert len(fake.requests) == expected.tries
    assert len(told.reasons) == expected.tries - 1


@formats
@pytest.mark.parametrize("row", [name for name, row in ROWS.items() if row.tries > 1])
async def test_what_passes_is_waited_for_and_the_turn_goes_on(spoken: Spoken, row: str) -> None:
    reply = ROWS[row].replies[_name(spoken)]
    async with spoken.serve(reply, HERE) as fake:
        told = await ask(spoken.open(fake))
    assert told.finished.status == "completed"
    (reason,) = told.reasons
    assert re.search(ROWS[row].told, reason)
    assert row != "rate limit" or told.harness.delays == [7.0]


@formats
async def test_after_an_image_was_refused_the_conversation_goes_on_without_it(spoken: Spoken) -> None:
    async def load() -> tuple[Attached, ...]:
        return (Attached("a.png", parts=(Media("image/png", PICTURE),)),)

    refusal = ROWS["image refused"].replies[_name(spoken)]
    async with spoken.serve(refusal, HERE) as fake:
        told = await ask(spoken.open(fake), 2, load_mentions=_once(load))
    assert told.finished.status == "completed"
    first, second = (str(request.body) for request in fake.requests)
    assert "iVBO" in first and "iVBO" not in second and "was left out" in second


def _once(load: Callable[[], Any]) -> Callable[[str, object], Any]:
    left = [load]
    return lambda text, policy: left.pop()() if left else None


# --- a conversation that is too long ---


@formats
async def test_a_conversation_that_is_too_long_is_compressed_and_sent_again_once(spoken: Spoken) -> None:
    long, notes = {"chunks": [{"text": "A story. " * 500}]}, {"chunks": [{"text": "# Requests\nA story."}]}
    async with spoken.serve(long, TOO_LONG[_name(spoken)], notes, HERE) as fake:
        told = await ask(spoken.open(fake), 2)
    assert told.finished.status == "completed"
    (done,) = told.harness.recorded(ChatCompressed)
    assert done.tokens_after < done.tokens_before
    assert "A story. A story." not in str(fake.requests[-1].body)


@formats
async def test_one_that_stays_too_long_is_told(spoken: Spoken) -> None:
    async with spoken.serve(*[TOO_LONG[_name(spoken)]] * 2) as fake:
        told = await ask(spoken.open(fake))
    failed(told, "context_too_long", "too long", "Start a new session, or choose a model with a larger context window")
    assert len(fake.requests) == 1, "there is nothing to compress"


# --- the way to the provider ---


@formats
async def test_a_name_that_cannot_be_resolved_is_told(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    def unresolved(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    told = await ask(connect(spoken, "https://nowhere.example"))
    failed(told, "unavailable", r"cannot reach nowhere\.example: its name cannot be resolved\.", CHECK)
    assert len(told.reasons) == ATTEMPTS - 1


@formats
async def test_a_refused_connection_is_told(spoken: Spoken) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        told = await ask(connect(spoken, f"http://127.0.0.1:{unused.getsockname()[1]}"))
    failed(told, "unavailable", r"cannot reach 127\.0\.0\.1:\d+: connection refused", CHECK)


@formats
async def test_a_connection_that_is_reset_in_the_middle_is_tried_again(spoken: Spoken) -> None:
    reset = {"chunks": [{"text": "Half a sen"}, {"abort": True}]}
    async with spoken.serve(*[reset] * ATTEMPTS) as fake:
        told = await ask(spoken.open(fake))
    failed(told, "broken_stream", "", "Try again, or choose another model")
    assert len(fake.requests) == ATTEMPTS
    assert told.harness.recorded(ModelReplied) == [], "nothing of it is kept"


@formats
async def test_a_certificate_that_is_not_trusted_is_told(spoken: Spoken, tmp_path: Path) -> None:
    context, _ = make_certificate(tmp_path)
    async with spoken.fake({"replies": [HERE]}, context) as fake:
        told = await ask(connect(spoken, fake.url))
    failed(told, "unavailable", "its certificate is not trusted .*set SSL_CERT_FILE", CHECK)
    assert fake.requests == []


@formats
@pytest.mark.parametrize(
    ("status", "kind", "words", "advice"),
    [
        (407, "bad_request", "the proxy 127.0.0.1 requires a login", "HTTPS_PROXY"),
        (502, "unavailable", "the proxy 127.0.0.1 refused the connection", "Try again in a while"),
    ],
)
async def test_a_proxy_that_refuses_is_told(spoken: Spoken, status: int, kind: str, words: str, advice: str) -> None:
    async with RawServer(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status) as refusing:
        told = await ask(connect(spoken, "https://model.test", proxy=Proxy("127.0.0.1", refusing.port)))
    failed(told, kind, words, advice)


@asynccontextmanager
async def impatient(spoken: Spoken, *replies: Json) -> AsyncGenerator[tuple[FakeServer, Model]]:
    async with spoken.serve(*replies) as fake:
        yield fake, connect(spoken, fake.url, Timeouts(read=0.05))


@formats
@pytest.mark.parametrize("before", [[], [{"text": "Half a sen"}]], ids=["at the beginning", "in the middle"])
async def test_silence_is_given_up_and_tried_again(spoken: Spoken, before: list[Json]) -> None:
    async with impatient(spoken, {"chunks": [*before, {"hang": True}]}, HERE) as (fake, model):
        told = await ask(model)
    assert told.finished.status == "completed"
    assert [part for reply in told.harness.recorded(ModelReplied) for part in reply.parts] == [Text("Here.")]
    (reason,) = told.reasons
    assert "sent nothing for 0.05 s" in reason and len(fake.requests) == 2


# --- replies that are not what they should be ---


@formats
@pytest.mark.parametrize(
    ("finish", "kind", "words", "advice"),
    [
        ("safety", "safety", "because of its safety rules", "Rephrase your request"),
        ("max_tokens", "max_tokens", "reached the model's output limit and was cut off", 'Send "continue" to go on'),
    ],
)
async def test_a_reply_that_was_stopped_is_not_a_success(
    spoken: Spoken, finish: str, kind: str, words: str, advice: str
) -> None:
    async with spoken.serve({"chunks": [{"text": "Once upon"}], "finish": finish}) as fake:
        told = await ask(spoken.open(fake))
    assert told.finished.status == "incomplete" and told.finished.failure is not None
    assert told.finished.failure.type == kind and words in told.message and advice in told.message
    assert len(fake.requests) == 1


@formats
async def test_a_reply_that_was_withheld_as_a_whole_is_a_matter_of_safety(spoken: Spoken) -> None:
    async with spoken.serve({"chunks": [], "finish": "safety"}) as fake:
        told = await ask(spoken.open(fake))
    failed(told, "safety", "", "Rephrase your request, or leave out what was rejected")
    assert len(fake.requests) == 1


@formats
@pytest.mark.parametrize(
    ("chunks", "words"),
    [([], "the reply was empty"), ([{"thought": "Hmm."}], "the reply has only thoughts")],
    ids=["empty", "only thoughts"],
)
async def test_a_reply_without_an_answer_is_tried_again_and_then_told(
    spoken: Spoken, chunks: list[Json], words: str
) -> None:
    async with spoken.serve(*[{"chunks": chunks}] * ATTEMPTS) as fake:
        told = await ask(spoken.open(fake))
    failed(told, "broken_stream", words, "Try again, or choose another model")
    assert len(fake.requests) == ATTEMPTS


@formats
async def test_a_malformed_call_never_runs_and_is_asked_for_again(spoken: Spoken) -> None:
    async with spoken.serve(malformed(_name(spoken)), HERE) as fake:
        told = await ask(spoken.open(fake))
    assert told.finished.status == "completed" and len(fake.requests) == 2
    assert told.harness.recorded(CallRequested) == []


@pytest.mark.parametrize("wire", STALE)
async def test_a_signature_that_is_refused_is_not_sent_again(wire: str) -> None:
    spoken = FORMATS[wire]
    first = {"chunks": [{"thought": "Hmm.", "signature": "c2lnLTE="}, {"text": "One."}]}
    third = {"chunks": [{"thought": "Ah.", "signature": "c2lnLTI="}, {"text": "Three."}]}
    async with spoken.serve(first, STALE[wire], HERE, third, HERE) as fake:
        told = await ask(spoken.open(fake), 4)
    assert told.finished.status == "completed" and told.reasons == []
    sent = [["c2lnLTE=" in str(request.body), "c2lnLTI=" in str(request.body)] for request in fake.requests]
    nothing, old, new = [False, False], [True, False], [False, True]
    assert sent == [nothing, old, nothing, nothing, new]


# --- the table ---


def documented() -> list[str]:
    """The first column of the table of failures."""
    table = DOCS.read_text().partition("## When a request fails")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")]
    return rows[1:] if rows and rows[0] == "What happens" else []


TESTED = {
    **dict.fromkeys(ROWS, test_what_a_provider_refuses_is_told_with_what_to_do_next),
    "conversation too long": test_a_conversation_that_is_too_long_is_compressed_and_sent_again_once,
    "unknown host": test_a_name_that_cannot_be_resolved_is_told,
    "connection refused": test_a_refused_connection_is_told,
    "connection reset": test_a_connection_that_is_reset_in_the_middle_is_tried_again,
    "untrusted certificate": test_a_certificate_that_is_not_trusted_is_told,
    "proxy refuses": test_a_proxy_that_refuses_is_told,
    "no first byte": test_silence_is_given_up_and_tried_again,
    "silence in the middle": test_silence_is_given_up_and_tried_again,
    "safety stop": test_a_reply_that_was_stopped_is_not_a_success,
    "output limit": test_a_reply_that_was_stopped_is_not_a_success,
    "empty reply": test_a_reply_without_an_answer_is_tried_again_and_then_told,
    "only thoughts": test_a_reply_without_an_answer_is_tried_again_and_then_told,
    "malformed call": test_a_malformed_call_never_runs_and_is_asked_for_again,
    "reply cut off": "tests/models/test_reply_cuts.py: after every byte",
    "endless reply": "tests/agent/test_reply_endings.py",
    "stale signature": test_a_signature_that_is_refused_is_not_sent_again,
}


def test_the_table_in_the_docs_has_exactly_the_rows_that_are_tested() -> None:
    assert sorted(documented()) == sorted(TESTED)


def _name(spoken: Spoken) -> str:
    return next(name for name, known in FORMATS.items() if known is spoken)
