"""Replies in which something is wrong in a place that nobody thought of: each is read, or is a ModelError, and never
anything else. What the mutations have found is written out below them.
"""

import random
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, cast

import msgspec
import pytest

from assent.models.model_protocol import CallChunk, Chunk, Finished, ModelError, TextChunk, Transient
from assent.models.reply_body import ReplyBody
from assent.models.streamed_model import StreamedModel
from assent.parts import Usage
from support.tape_events import (
    ARGS,
    ONE_CALL,
    REQUEST,
    TEXT,
    WHOLE,
    as_line,
    block,
    block_delta,
    chat_delta,
    chat_end,
    completed,
    events,
    gemini,
    gemini_call,
    message_end,
    read,
    response,
    said,
    stream,
)
from support.wire_formats import FORMATS

pytestmark = [pytest.mark.spec("K1"), pytest.mark.spec("F9")]
Json = Any
Path = tuple[str | int, ...]
formats = pytest.mark.parametrize("wire", FORMATS)

ODD: list[Json] = [
    None, "", 0, -1, 1.5, 1e300, 10**30, True, [], {}, [None], [[]], [{}], {"text": "t"}, "text", "null", "[]",
    "NaN", "Infinity", "9" * 30, "x" * 3000, "[DONE]",
]  # fmt: skip


def with_usage(wire: str, tokens: Json) -> list[Json]:
    """A text, and every number that its format can report."""
    chat = {"prompt_tokens": tokens, "completion_tokens": tokens, "prompt_tokens_details": {"cached_tokens": tokens}}
    google = {"promptTokenCount": tokens, "candidatesTokenCount": tokens, "cachedContentTokenCount": tokens}
    plain = {"input_tokens": tokens, "output_tokens": tokens}
    return {
        "chat": [chat_delta(content="hi"), chat_end(usage=chat)],
        "gemini": [gemini({"text": "hi"}, finish="STOP", usageMetadata=google)],
        "messages": [block_delta(0, "text_delta", text="hi"), *message_end(**plain, cache_read_input_tokens=tokens)],
        "responses": [said("hi"), completed(usage=plain)],
    }[wire]


def places(value: Json, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    steps: Iterable[tuple[str | int, Json]] = ()
    if isinstance(value, dict):
        steps = cast(dict[str | int, Json], value).items()
    elif isinstance(value, list):
        steps = enumerate(cast(list[Json], value))
    for step, inner in steps:
        yield from places(inner, (*path, step))


def mutated(sent: list[Json], choose: random.Random) -> list[Json]:
    sent = deepcopy(sent)
    for _ in range(choose.randint(1, 3)):
        n = choose.randrange(len(sent))
        match choose.choice(["value", "value", "value", "twice", "lost", "moved"]):
            case "value" if found := list(places(sent[n])):
                *way, last = choose.choice(found)
                holder = sent[n]
                for step in way:
                    holder = holder[step]
                holder[last] = deepcopy(choose.choice(ODD))
            case "twice":
                sent.insert(n, deepcopy(sent[n]))
            case "lost" if len(sent) > 1:
                del sent[n]
            case _:
                sent.append(sent.pop(n))
    return sent


def read_at_once(model: StreamedModel, sent: list[Json]) -> list[Chunk]:
    """Without a server, because there are so many."""
    reply = model._wire.reader(REQUEST)  # pyright: ignore[reportPrivateUsage]
    body = ReplyBody(lambda start: pytest.fail(f"not an event stream: {start!r}"))
    found = [chunk for event in body.feed(stream(sent)) for chunk in reply.chunks(event.data)]
    found += [chunk for event in body.end() for chunk in reply.chunks(event.data)]
    return [*found, *reply.end(cut=body.cut)]


@formats
def test_whatever_is_wrong_in_a_reply_it_is_read_or_a_failure_of_the_model(wire: str) -> None:
    model = FORMATS[wire].open_at("http://127.0.0.1:9")
    assert isinstance(model, StreamedModel)
    tapes = [WHOLE[wire], with_usage(wire, 5)]
    for seed in range(1500):
        sent = mutated(tapes[seed % 2], random.Random(seed))
        try:
            chunks = read_at_once(model, sent)
        except ModelError as error:
            assert str(error).strip()
            continue
        assert [isinstance(chunk, Finished) for chunk in chunks].index(True) == len(chunks) - 1, as_line(sent)
        msgspec.json.encode(chunks)  # as the log does


@formats
@pytest.mark.parametrize("tokens", ["NaN", "Infinity", -5, 1e300, "9" * 30])
async def test_a_number_of_tokens_that_makes_no_sense_is_not_counted(wire: str, tokens: Json) -> None:
    assert await events(wire, *with_usage(wire, tokens)) == [TextChunk("hi"), Finished("stop", Usage())]


async def test_no_more_tokens_are_cached_than_there_were() -> None:
    sent = gemini({"text": "hi"}, finish="STOP", usageMetadata={"promptTokenCount": 5, "cachedContentTokenCount": 9})
    assert await events("gemini", sent) == [TextChunk("hi"), Finished("stop", Usage(input=5, cached=5))]


async def test_a_call_that_begins_twice_is_one_call() -> None:
    """The first start is not a call without arguments."""
    start = block(0, "tool_use", id="c1", name="read_file", input={})
    arguments = block_delta(0, "input_json_delta", partial_json=TEXT)
    assert await events("messages", start, start, arguments, *message_end("tool_use")) == ONE_CALL


async def test_a_call_of_gemini_that_comes_twice_is_one_call() -> None:
    call = gemini(gemini_call(id="c1"))
    assert await events("gemini", call, call, gemini(finish="STOP")) == ONE_CALL
    unnamed = CallChunk("read_file", ARGS)
    same = gemini(gemini_call(), gemini_call(), finish="STOP")
    assert await events("gemini", same) == [unnamed, unnamed, Finished("stop")]


@pytest.mark.parametrize(("word", "reason"), [("tool_calls", "stop"), ("length", "max_tokens"), ("weird", "other")])
async def test_a_gateway_may_end_a_gemini_reply_with_the_words_of_another_format(word: str, reason: str) -> None:
    *_, finished = await events("gemini", gemini({"text": "hi"}, finish=word))
    assert isinstance(finished, Finished) and finished.reason == reason


@formats
@pytest.mark.spec("K4")
@pytest.mark.parametrize("asked", ["Wed, 18 Nov 2026 00:00:00 +99999999999999999999", "9" * 400])
async def test_an_invalid_waiting_time_is_ignored(wire: str, asked: str) -> None:
    with pytest.raises(Transient) as told:
        await read(wire, response(b"{}", "429 Slow", "application/json", Retry_After=asked))
    assert told.value.retry_after is None


@formats
@pytest.mark.spec("K4")
async def test_an_error_code_of_any_length_is_shortened(wire: str) -> None:
    with pytest.raises(ModelError) as told:
        await events(wire, {"error": {"code": "9" * 5000}})
    assert len(str(told.value)) < 2000
