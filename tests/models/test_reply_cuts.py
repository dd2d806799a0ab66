"""The promise of F9, for every wire format: a reply cut after any byte is never taken for a whole one."""

import pytest

from assent.http.body import ChunkedBody
from assent.models.model_protocol import BrokenStream, CallChunk, Chunk, Finished, Model, Request, Transient
from assent.parts import Text, UserMessage
from support.cuts import is_text, is_whole
from support.wire_formats import FORMATS, Spoken

pytestmark = [pytest.mark.spec("F9"), pytest.mark.parametrize("spoken", FORMATS.values(), ids=FORMATS)]

HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))
CALL = CallChunk("run_shell_command", {"command": "rm -r build", "why": "näher"}, "c1")
REPLY = {
    "chunks": [
        {"thought": "hm", "signature": "sig"},
        {"text": "I will clean up."},
        {"call": {"name": CALL.name, "args": CALL.args, "id": CALL.call_id}},
    ],
    "usage": {"input": 3, "output": 4},
}


async def recorded(spoken: Spoken) -> bytes:
    """The bytes of the whole response, head and last chunk included."""
    async with spoken.serve(REPLY) as fake:
        model = spoken.open(fake)
        chunks = [chunk async for chunk in model.stream(HELLO)]
        await model.close()
        assert CALL in chunks and isinstance(chunks[-1], Finished)
        return bytes(fake.sent)


async def consume(model: Model) -> tuple[list[Chunk], Exception | None]:
    chunks: list[Chunk] = []
    try:
        async for chunk in model.stream(HELLO):
            chunks.append(chunk)  # noqa: PERF401 - what came before an error counts
    except Transient as error:
        return chunks, error
    return chunks, None


def assert_nothing_usable(chunks: list[Chunk], place: int) -> None:
    assert not any(isinstance(chunk, Finished) for chunk in chunks), f"finished although cut after byte {place}"
    assert all(chunk == CALL for chunk in chunks if isinstance(chunk, CallChunk)), f"half a call after byte {place}"


async def test_a_connection_dropped_after_any_byte_never_gives_half_a_reply(spoken: Spoken) -> None:
    """Finished comes only if nothing but the end of the HTTP response was cut off."""
    whole = await recorded(spoken)
    async with spoken.serve(*(REPLY | {"drop_after": place} for place in range(len(whole)))) as fake:
        model = spoken.open(fake)
        for place in range(len(whole)):
            chunks, error = await consume(model)
            if error is None and is_whole(whole, place):
                assert CALL in chunks and isinstance(chunks[-1], Finished)
                continue
            assert_nothing_usable(chunks, place)
            # Without a single byte there is no stream to break; all the same it is tried again.
            assert isinstance(error, BrokenStream if place else Transient), f"no error after byte {place}"
        await model.close()


async def test_a_stream_ended_politely_after_any_byte_never_gives_finished(spoken: Spoken) -> None:
    """As something between us and the provider might do: the HTTP is whole, the reply in it is not."""
    _, _, framed = (await recorded(spoken)).partition(b"\r\n\r\n")
    events = ChunkedBody().feed(framed).removesuffix(b"\r\n\r\n")
    end = events.index(b"\r\n", events.index(spoken.finish)) if spoken.finish else len(events)
    texts = [events[:place] for place in range(1, end + 1) if is_text(events[:place])]
    replies = [{"stream": text.decode()} for text in texts]
    async with spoken.serve(*replies) as fake:
        model = spoken.open(fake)
        for place in range(len(replies)):
            chunks, error = await consume(model)
            assert_nothing_usable(chunks, place)
            assert isinstance(error, BrokenStream), f"no error after byte {place}"
        await model.close()
