"""Converts a server's answer into our own parts: text, media, links, structured data, and errors.

Terminal escapes are removed from text, anything too long is cut and kept elsewhere, and invalid media become a note.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

import msgspec
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from assent.mcp.kept_results import Keep, Part
from assent.parts import Failure, Media, PlainDisplay, Text
from assent.process.output_buffer import cut_middle
from assent.process.plain_text import plain
from assent.tools.tool import ToolResult

TEXT_LIMIT = 200_000
MEDIA_LIMIT = 20 << 20
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


def to_tool_result(server: str, result: CallToolResult, keep: Keep) -> ToolResult:
    parts = [part for block in result.content for part in _parts(block)]
    if not any(isinstance(part, Text) for part in parts) and result.structured_content is not None:
        parts = [Text(plain(msgspec.json.encode(result.structured_content).decode())), *parts]
    parts = bounded(parts, keep)
    said = "\n".join(part.text if isinstance(part, Text) else f"[{part.mime}]" for part in parts)
    failure = Failure("mcp_tool_error", f"The server {server} reported an error.") if result.is_error else None
    return ToolResult(parts or "The tool produced no output.", PlainDisplay(said or "(no output)"), failure)


def to_parts(
    blocks: Iterable[ContentBlock | TextResourceContents | BlobResourceContents], keep: Keep | None = None
) -> tuple[Part, ...]:
    return bounded([part for block in blocks for part in _parts(block)], keep)


def bounded(parts: list[Part], keep: Keep | None = None) -> tuple[Part, ...]:
    """Within the limits of one result; the excess is counted, and kept if possible."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    note = keep("\n".join(texts)) if keep is not None and sum(map(len, texts)) > TEXT_LIMIT else ""
    return (*([Text(note)] if note else []), *_within_limits(parts))


def _parts(block: ContentBlock | TextResourceContents | BlobResourceContents) -> Iterator[Part]:
    match block:
        case TextContent(text=text) | TextResourceContents(text=text):
            yield Text(plain(text))
        case ImageContent(data=data, mime_type=mime) | AudioContent(data=data, mime_type=mime):
            yield _media(mime, data)
        case EmbeddedResource(resource=resource):
            yield Text(plain(f"[resource {resource.uri}]"))
            yield from _parts(resource)
        case BlobResourceContents(blob=data, mime_type=mime):
            yield _media(mime or "application/octet-stream", data)
        case ResourceLink(uri=uri, name=name, description=description):
            yield Text(plain(f"[link to the resource {uri}: {name}{f', {description}' if description else ''}]"))


def _media(mime: str, data: str) -> Part:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Text("[media that cannot be decoded]")
    return Media(mime, data) if _MIME.fullmatch(mime) else Text("[media of an unknown type]")


def _within_limits(parts: list[Part]) -> Iterator[Part]:
    text_left, media_left = TEXT_LIMIT, MEDIA_LIMIT
    for part in parts:
        match part:
            case Text(text=text) if text_left > 0:
                yield Text(cut_middle(text, text_left))
                text_left -= len(text)
            case Media(data=data) if len(data) <= media_left:
                yield part
                media_left -= len(data)
            case Media():
                yield Text("[media left out: too large]")
            case _:
                pass
    if text_left < 0:
        yield Text(f"[{-text_left:,} characters left out]")
