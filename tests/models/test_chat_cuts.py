"""The promise of F9 where chat completions differ from the rest: calls written as text, and ends without a marker."""

from typing import Any

import pytest

from assent.http.body import ChunkedBody
from assent.models.model_choice import open_model
from assent.models.model_protocol import BrokenStream, CallChunk, Chunk, Finished, Model, Request, Transient
from assent.parts import Declaration, Text, UserMessage
from support.cuts import is_text, is_whole
from support.fake_chat import FakeChat

pytestmark = pytest.mark.spec("F9")

TOOL = Declaration("run_shell_command", "Runs.", {"type": "object", "properties": {}})
HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),), tools=(TOOL,))
CALL = CallChunk("run_shell_command", {"command": "rm -r build", "why": "näher"}, "aaaa")
WRITTEN = CallChunk("run_shell_command", {"command": "rm -r build"})
WRITTEN_AS = '{"name": "run_shell_command", "arguments": {"command": "rm -r build"}}'
REPLIES: dict[str, dict[str, Any]] = {
    "streamed": {
        "chunks": [
            {"thought": "hm"},
            {"text": "I will clean up."},
            {"call": {"name": CALL.name, "args": CALL.args, "id": CALL.call_id}},
        ],
        "usage": {"input": 3, "output": 4},
    },
    "written": {"chunks": [{"text": "<tool_call>"}, {"text": WRITTEN_AS}, {"text": "</tool_call>"}]},
}


def open_fake(fake: FakeChat) -> Model:
    return open_model("llamacpp:m", {"LLAMACPP_BASE_URL": fake.url})


async def consume(model: Model) -> tuple[list[Chunk], Exception | None]:
    chunks: list[Chunk] = []
    try:
        async for chunk in model.stream(HELLO):
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    except Transient as error:
        return chunks, error
    return chunks, None


async def recorded(reply: dict[str, Any]) -> bytes:
    async with FakeChat({"replies": [reply]}) as fake:
        model = open_fake(fake)
        chunks, error = await consume(model)
        await model.close()
        assert error is None and (CALL in chunks or WRITTEN in chunks) and isinstance(chunks[-1], Finished)
        return bytes(fake.sent)


def assert_nothing_usable(chunks: list[Chunk], place: int) -> None:
    assert not any(isinstance(chunk, Finished | CallChunk) for chunk in chunks), f"usable after byte {place}"


async def test_a_written_call_dropped_after_any_byte_is_never_a_call() -> None:
    reply = REPLIES["written"]
    whole = await recorded(reply)
    async with FakeChat({"replies": [reply | {"drop_after": place} for place in range(len(whole))]}) as fake:
        model = open_fake(fake)
        for place in range(len(whole)):
            chunks, error = await consume(model)
            if error is None and is_whole(whole, place):
                continue
            assert_nothing_usable(chunks, place)
            assert isinstance(error, BrokenStream if place else Transient), f"no error after byte {place}"
        await model.close()


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_a_stream_ended_politely_gives_finished_only_after_the_finish_reason(reply: dict[str, Any]) -> None:
    """As something between us and the server might do: the HTTP is whole, the reply in it is not. Servers without an
    end marker exist, so the finish reason alone is taken for the end, if nothing follows it.
    """
    _, _, framed = (await recorded(reply)).partition(b"\r\n\r\n")
    events = ChunkedBody().feed(framed)
    finish = events.index(b"\r\n\r\n", events.index(b'"finish_reason":"')) + 4
    ends = {finish, finish - 1, events.index(b"\r\n\r\n", finish) + 4, events.index(b"\r\n\r\n", finish) + 3}
    places = [place for place in range(1, len(events) - 20) if is_text(events[:place])]
    replies = [{"stream": events[:place].decode()} for place in places]
    async with FakeChat({"replies": replies}) as fake:
        fake_model = open_fake(fake)
        for place in places:
            chunks, error = await consume(fake_model)
            if place in ends:
                assert error is None and isinstance(chunks[-1], Finished)
            else:
                assert_nothing_usable(chunks, place)
                assert isinstance(error, BrokenStream), f"no error after byte {place}"
        await fake_model.close()
