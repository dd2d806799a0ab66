"""The type of a file by its first bytes; a name can say anything.

Two answers: the media type if models accept the file as it is, and a description if they do not.
"""

MAX_BYTES = 20_000_000
"""Larger files are not read at all."""
MAX_MEDIA = 10_000_000
"""Larger images, audio or PDF files are not sent to a model."""

_MEDIA: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypavif", "image/avif"),
    (0, b"%PDF-", "application/pdf"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftypM4A", "audio/mp4"),
)
_BINARY: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x7fELF", "an ELF program or library"),
    (0, b"MZ", "a Windows program or library"),
    (0, b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (0, b"PK\x03\x04", "a ZIP archive (or a document based on one)"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"(\xb5/\xfd", "a zstd archive"),
    (0, b"7z\xbc\xaf", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"wOF", "a font"),
    (0, b"\0\x01\0\0\0", "a font"),
    (4, b"ftyp", "a video"),
    (0, b"\x1a\x45\xdf\xa3", "a video"),
    (8, b"AVI ", "a video"),
)


def media_type(data: bytes) -> str:
    """Empty if models do not accept it as it is."""
    return _first(data, _MEDIA)


def describe_binary(data: bytes) -> str:
    return f"{_first(data, _BINARY) or 'binary data'}, {len(data):,} bytes"


def _first(data: bytes, table: tuple[tuple[int, bytes, str], ...]) -> str:
    return next((name for at, magic, name in table if data[at : at + len(magic)] == magic), "")
