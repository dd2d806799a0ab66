"""Events come out the same, however the bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.models.model_protocol import BrokenStream
from assent.models.sse import SseDecoder, SseEvent
from support.cuts import cut_at

pytestmark = pytest.mark.spec("F9")


def decode(*blocks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    return [event for block in blocks for event in decoder.feed(block)]


FIELDS = [b"data: a", b"data:b", b"data", b"data:", b"event: error", b": note", b"id: 7", b"x", b"\xc3\xa9"]
ENDS = [b"\r", b"\n", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n"]
streams = st.lists(st.sampled_from(FIELDS + ENDS), max_size=40).map(b"".join)


@given(streams, st.lists(st.integers(0, 400), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_events(stream: bytes, places: list[int]) -> None:
    assert decode(*cut_at(stream, places)) == decode(stream)


@given(streams)
def test_a_stream_fed_byte_by_byte_gives_the_same_events(stream: bytes) -> None:
    assert decode(*(bytes([byte]) for byte in stream)) == decode(stream)


def reference(stream: bytes) -> list[SseEvent]:
    """The standard's own words, line by line."""
    events: list[SseEvent] = []
    data: list[bytes] = []
    name = ""
    for line in stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if line == b"":
            events += [SseEvent(b"\n".join(data), name)] if data else []
            data, name = [], ""
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return events


@given(streams)
def test_events_are_those_of_the_standard(stream: bytes) -> None:
    assert decode(stream) == reference(stream)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_lf_crlf_or_cr(end: bytes) -> None:
    assert decode(b"data: a" + end + b"data: b" + end + end) == [SseEvent(b"a\nb")]


def test_an_event_that_ends_in_cr_does_not_wait_for_the_next_block() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\r") == [SseEvent(b"a")]
    assert decoder.feed(b"\ndata: b\r\r") == [SseEvent(b"b")]


def test_a_byte_order_mark_is_dropped_only_at_the_start() -> None:
    assert decode(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [SseEvent(b"a")]


def test_an_unfinished_event_is_held_back_and_detected() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n") == [SseEvent(b"a")]
    assert decoder.unfinished
    assert decoder.feed(b"\n") == [SseEvent(b"b")]
    assert not decoder.unfinished


def test_the_end_of_the_last_line_may_be_cut_between_cr_and_lf() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n\r") == [SseEvent(b"a")]
    assert decoder.feed(b"\n") == []
    assert not decoder.unfinished


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_beyond_the_limit_breaks_the_stream(size: int) -> None:
    whole = b"data: " + b"x" * 95 + b"\n\n"
    decoder = SseDecoder(limit=100)
    with pytest.raises(BrokenStream, match="longer than 100 bytes"):
        for start in range(0, len(whole), size):
            decoder.feed(whole[start : start + size])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_of_exactly_the_limit_is_taken(size: int) -> None:
    whole = b"data: " + b"x" * 94 + b"\n\n"
    decoder = SseDecoder(limit=100)
    events = [event for start in range(0, len(whole), size) for event in decoder.feed(whole[start : start + size])]
    assert events == [SseEvent(b"x" * 94)]
