"""Turns a response into text: which types are accepted, and the charset. Bytes in, text out.

Everything here is hostile: a type may be false, a charset may not be a text codec.
"""

import re
from collections.abc import Mapping
from typing import Literal

ACCEPT = "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1"
ACCEPT_ENCODING = "gzip, deflate"

Kind = Literal["html", "text"]

_TEXTS = "json xml javascript ecmascript x-javascript yaml x-yaml toml graphql sql x-sh markdown"
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:+-]{1,40})""", re.IGNORECASE)
_META = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:+-]{1,40})""", re.IGNORECASE)
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
# Text codecs only: Python also has punycode, which takes forever, and worse.
_CODEC = re.compile(
    r"utf-(8|16)(-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|gb\w+|big5\w*|euc_\w+|shift_jis\w*|mac-\w+"
)


class Unreadable(Exception):
    """The content cannot be returned as text; the message says why, with type and size."""


# --- types ---


def mime_of(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def kind_of(mime: str) -> Kind | None:
    """None for types that are not text. Without a type it is treated as text, and checked when it has arrived."""
    if mime in ("text/html", "application/xhtml+xml"):
        return "html"
    if not mime or mime.startswith("text/") or mime.endswith(("+json", "+xml", "+yaml")):
        return "text"
    if mime.startswith("application/") and mime.removeprefix("application/") in _TEXTS.split():
        return "text"
    return None


# --- text ---


def to_text(data: bytes, content_type: str, kind: Kind) -> str:
    if kind == "text" and b"\0" in data[:4096] and not data.startswith(tuple(bom for bom, _ in _BOMS[1:])):
        raise Unreadable(f"it is not text ({len(data):,} bytes)")
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(codec, "replace")
    return data.decode(_codec(_named_charset(data, content_type, kind)), "replace")


def _named_charset(data: bytes, content_type: str, kind: Kind) -> str:
    if found := _CHARSET.search(content_type):
        return found[1]
    if kind == "html" and (meta := _META.search(data[:2048])):
        return meta[1].decode("ascii", "replace")
    return "utf-8"


def _codec(name: str) -> str:
    """Python's name for a charset; UTF-8 if it is unknown. On the web, Latin-1 means Windows-1252."""
    import codecs

    try:
        codec = codecs.lookup(name).name
    except LookupError:
        return "utf-8"
    if codec in ("iso8859-1", "ascii"):
        return "cp1252"
    return codec if _CODEC.fullmatch(codec) else "utf-8"
