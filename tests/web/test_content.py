"""What came, as text: types, packing and charsets, each rule by itself."""

import gzip
import zlib

import pytest

from assent.http import Broken
from assent.http.decompression import Packed, Plain, unpacker_for
from assent.web.content import Unreadable, kind_of, mime_of, to_text


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("text/html", "html"),
        ("application/xhtml+xml", "html"),
        ("", "text"),
        ("text/x-anything", "text"),
        ("application/vnd.api+json", "text"),
        ("image/svg+xml", "text"),
        ("application/openapi+yaml", "text"),
        *((f"application/{name}", "text") for name in ("json", "xml", "javascript", "ecmascript", "x-javascript")),
        *((f"application/{name}", "text") for name in ("yaml", "x-yaml", "toml", "graphql", "sql", "x-sh", "markdown")),
        ("json", None),
        ("image/json", None),
        ("application/pdf", None),
        ("application/octet-stream", None),
        ("image/png", None),
        ("texts/plain", None),
    ],
)
def test_only_types_of_text_are_read(mime: str, kind: str | None) -> None:
    assert kind_of(mime) == kind


def test_a_type_is_known_without_its_parameters_and_its_case() -> None:
    assert mime_of({"content-type": " Text/HTML ; charset=x"}) == "text/html"
    assert mime_of({}) == ""


# --- packing ---


def stored(first: int, size: int) -> bytes:
    """Deflate without a header, whose first byte has this value: the upper bits of it mean nothing."""
    length = size.to_bytes(2, "little")
    return bytes([first]) + length + bytes(255 - byte for byte in length) + b"x" * size + b"\x03\x00"


@pytest.mark.parametrize(
    ("packed", "size"),
    [
        (gzip.compress(b"x" * 50, mtime=0), 50),
        (zlib.compress(b"x" * 50), 50),
        (zlib.compress(b"x" * 50)[2:-4], 50),
        (zlib.compress(b"")[2:-4], 0),  # two bytes
        (stored(0x08, 5), 5),  # begins like a header and is none
        (stored(0x00, 31), 31),  # has the checksum of a header and is none
    ],
)
def test_what_is_packed_is_known_by_its_first_bytes_however_few_come_at_a_time(packed: bytes, size: int) -> None:
    for pieces in ([packed], [bytes([byte]) for byte in packed]):
        unpacker = Packed()
        assert b"".join(unpacker.feed(piece, 1000) for piece in pieces) == b"x" * size
        unpacker.end()


@pytest.mark.parametrize("unpacker", [Plain(), Packed()])
def test_no_more_comes_out_than_there_is_room_for(unpacker: Plain | Packed) -> None:
    data = b"x" * 50 if isinstance(unpacker, Plain) else gzip.compress(b"x" * 50, mtime=0)
    assert unpacker.feed(data, 20) == b"x" * 20


def test_packed_content_must_be_whole_and_nothing_at_all_is_whole() -> None:
    Packed().end()
    for part in (b"\x1f", gzip.compress(b"x" * 50, mtime=0)[:-1]):
        unpacker = Packed()
        unpacker.feed(part, 1000)
        with pytest.raises(Broken, match="incomplete"):
            unpacker.end()
    with pytest.raises(Broken, match="cannot be decompressed"):
        Packed().feed(b"no such thing", 1000)


@pytest.mark.parametrize(
    ("coding", "kind"),
    [("", Plain), ("identity", Plain), (" GZIP ", Packed), ("x-gzip", Packed), ("deflate", Packed)],
)
def test_the_codings_that_were_asked_for_are_known(coding: str, kind: type) -> None:
    assert type(unpacker_for({"content-encoding": coding})) is kind
    assert type(unpacker_for({})) is Plain


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress"])
def test_other_codings_are_refused(coding: str) -> None:
    with pytest.raises(Broken, match="unsupported encoding"):
        unpacker_for({"content-encoding": coding})


# --- text ---


def test_a_zero_byte_is_not_text_but_a_page_may_have_one() -> None:
    with pytest.raises(Unreadable, match=r"it is not text \(3 bytes\)"):
        to_text(b"a\0b", "text/plain", "text")
    assert to_text(b"a\0b", "text/html", "html") == "a\0b"
    assert to_text(b"x" * 4096 + b"\0", "", "text").endswith("\0"), "only the beginning is looked at"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_byte_order_mark_says_more_than_the_type(codec: str) -> None:
    assert to_text("\ufeffgrün".encode(codec), "text/plain; charset=koi8-r", "text") == "grün"


def test_only_a_page_names_its_charset_in_itself() -> None:
    data = b'<meta charset="cp1251">\xec'
    assert to_text(data, "text/html", "html").endswith("м")
    assert to_text(data, "text/plain", "text").endswith("\ufffd")
    assert to_text(data, "text/html; charset=iso-8859-1", "html").endswith("ì"), "the type says it first"
    assert to_text(b" " * 2048 + data, "text/html", "html").endswith("\ufffd"), "only the beginning is looked at"


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("ascii", "€"),
        ("iso-8859-1", "€"),
        ("iso-8859-15", "\x80"),
        ("cp437", "Ç"),
        ("nonsense", "\ufffd"),
        ("punycode", "\ufffd"),
        ("rot13", "\ufffd"),
        ("utf-7", "\ufffd"),
        ("unicode_escape", "\ufffd"),
    ],
)
def test_only_charsets_of_the_web_are_used(charset: str, text: str) -> None:
    assert to_text(b"\x80", f"text/plain; charset={charset}", "text") == text
