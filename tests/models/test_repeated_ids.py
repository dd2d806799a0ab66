"""Servers that repeat an id: the call gets another one, so that it is not taken for the earlier call."""

import pytest

from assent.models.model_protocol import CallChunk, Request
from assent.parts import Call, ModelMessage, Result, Text, UserMessage
from support.wire_formats import FORMATS, Spoken

EARLIER = ("same", "call_0")


def conversation() -> Request:
    calls = tuple(Call(call_id, "read_file", {}) for call_id in EARLIER)
    results = tuple(Result(call_id, "read_file", {"output": "x"}) for call_id in EARLIER)
    return Request(
        system="", messages=(UserMessage((Text("read it"),)), ModelMessage(calls, "m"), UserMessage(results))
    )


@pytest.mark.spec("A5")
@pytest.mark.parametrize("spoken", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(("given", "kept"), [("same", None), ("call_0", None), ("another", "another")])
async def test_an_id_that_was_used_before_is_left_out(spoken: Spoken, given: str, kept: str | None) -> None:
    reply = {"chunks": [{"call": {"name": "read_file", "args": {"file_path": "a"}, "id": given}}]}
    async with spoken.serve(reply) as fake:
        model = spoken.open(fake)
        chunks = [chunk async for chunk in model.stream(conversation())]
        await model.close()
    assert [chunk.call_id for chunk in chunks if isinstance(chunk, CallChunk)] == [kept]
