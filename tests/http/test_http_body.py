"""Where a response body ends. h11, which we do not use for bodies because of its speed, is the oracle."""

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.http import Broken
from assent.http.body import Body, ChunkedBody, body_for
from support.cuts import cut_at

pytestmark = pytest.mark.spec("F9")


def feed_all(body: Body, blocks: list[bytes]) -> bytes:
    return b"".join(body.feed(block) for block in blocks if block)


def encode(chunks: list[bytes], trailers: bytes) -> bytes:
    framed = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    return b"".join(framed) + b"0\r\n" + trailers + b"\r\n"


def h11_body(wire: bytes) -> bytes:
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="POST", target="/", headers=[("Host", "h")]))
    parser.send(h11.EndOfMessage())
    parser.receive_data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + wire)
    data = b""
    while not isinstance(event := parser.next_event(), h11.EndOfMessage):
        data += bytes(event.data) if isinstance(event, h11.Data) else b""
    return data


chunk_lists = st.lists(st.binary(min_size=1, max_size=40) | st.just(b"\r\n0\r\n\r\n"), max_size=8)
trailer_blocks = st.sampled_from([b"", b"X-Sum: 1\r\n", b"A: b\r\nC: d\r\n"])
places = st.lists(st.integers(0, 500), max_size=10)


@given(chunk_lists, trailer_blocks, places)
def test_any_split_of_a_chunked_body_gives_what_h11_gives(chunks: list[bytes], trailers: bytes, at: list[int]) -> None:
    wire, body = encode(chunks, trailers), ChunkedBody()
    assert feed_all(body, cut_at(wire, at)) == b"".join(chunks) == h11_body(wire)
    assert body.done and body.clean


@given(chunk_lists, trailer_blocks)
def test_a_chunked_body_without_its_last_byte_is_never_done(chunks: list[bytes], trailers: bytes) -> None:
    body = ChunkedBody()
    for byte in encode(chunks, trailers)[:-1]:
        body.feed(bytes([byte]))
    assert not body.done
    with pytest.raises(Broken):
        body.end()


def test_chunk_extensions_are_passed_over() -> None:
    body = ChunkedBody()
    assert body.feed(b'3;name="v"\r\nabc\r\n0 ;x\r\n\r\n') == b"abc"
    assert body.done


BAD_SIZES = [b"xyz\r\n", b"-1\r\n", b"+3\r\nabc\r\n", b"0x3\r\nabc\r\n", b"1_0\r\n", b"\r\n", b" 3\r\nabc\r\n"]
BAD_ENDS = [b"3\nabc\n", b"3\r\nabcd\r\n", b"3\r\nabc\n\r\n", b"f" * 5000, b"0\r\n" + b"x" * 20000]


@pytest.mark.parametrize("wire", BAD_SIZES + BAD_ENDS, ids=lambda wire: repr(wire[:12]))
@pytest.mark.parametrize("size", [1, 3, 100_000])
def test_a_malformed_chunk_breaks_the_stream(wire: bytes, size: int) -> None:
    body = ChunkedBody()
    with pytest.raises(Broken):
        feed_all(body, [wire[start : start + size] for start in range(0, len(wire), size)])


def test_bytes_after_the_last_chunk_spoil_the_connection() -> None:
    body = ChunkedBody()
    body.feed(b"0\r\n\r\nHTTP/1.1 200 OK")
    assert body.done and not body.clean


def test_a_sized_body_ends_after_its_length() -> None:
    body = body_for(200, {"content-length": "5"})
    assert body.feed(b"abc") == b"abc" and not body.done
    assert body.feed(b"de") == b"de" and body.done and body.clean


def test_a_sized_body_that_is_short_is_broken() -> None:
    body = body_for(200, {"content-length": "5"})
    body.feed(b"abc")
    with pytest.raises(Broken, match="2 bytes"):
        body.end()


def test_a_body_without_a_size_ends_with_the_connection() -> None:
    body = body_for(200, {})
    assert body.feed(b"abc") == b"abc" and not body.done
    body.end()
    assert body.done and not body.clean


def test_an_unknown_transfer_encoding_is_refused() -> None:
    with pytest.raises(Broken, match="gzip"):
        body_for(200, {"transfer-encoding": "gzip, chunked"})


def test_a_response_that_cannot_have_a_body_has_none() -> None:
    assert body_for(204, {}).done
