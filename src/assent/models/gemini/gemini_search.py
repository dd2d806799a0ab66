"""Gemini's web search ("grounding"): the request, and the answer with its sources. Pure; it knows no network.

The answer is text, with a list of which segment is based on which pages. The end of a segment is an offset in bytes of
UTF-8; the numbers of its sources are inserted there.
"""

import msgspec
from msgspec import Struct

from assent.models.gemini.snake_case import in_camel_case
from assent.models.model_protocol import BrokenStream, Chunk, TextChunk
from assent.models.wire_json import BAD_JSON
from assent.parts import JsonObject, SearchAnswer, Source


class _Page(Struct):
    uri: str = ""
    title: str = ""


class _Chunk(Struct):
    web: _Page | None = None


class _Segment(Struct, rename="camel"):
    end_index: int = 0


class _Support(Struct, rename="camel"):
    segment: _Segment | None = None
    grounding_chunk_indices: list[int] = []


class _Grounding(Struct, rename="camel"):
    grounding_chunks: list[_Chunk] = []
    grounding_supports: list[_Support] = []


class _Candidate(Struct, rename="camel"):
    grounding_metadata: _Grounding | None = None


class _Event(Struct):
    candidates: list[_Candidate] = []


_decode = msgspec.json.Decoder(_Event).decode


def encode_search(query: str) -> bytes:
    body: JsonObject = {"contents": [{"role": "user", "parts": [{"text": query}]}], "tools": [{"googleSearch": {}}]}
    return msgspec.json.encode(body)


class SearchReader:
    """Reads one reply: call `take` for each event with its chunks, then `answer`."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._pages: list[_Chunk] = []
        self._supports: list[_Support] = []

    def take(self, chunks: list[Chunk], data: bytes) -> None:
        self._text += [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
        data = in_camel_case(data)
        if b"groundingMetadata" not in data:
            return
        try:
            candidates = _decode(data).candidates
        except BAD_JSON as error:
            raise BrokenStream(f"the sources of the search are malformed: {error}") from error
        for found in (candidate.grounding_metadata for candidate in candidates):
            if found is not None:  # the newest one is complete
                self._pages = found.grounding_chunks or self._pages
                self._supports = found.grounding_supports or self._supports

    def answer(self) -> SearchAnswer:
        pages = [chunk.web or _Page() for chunk in self._pages]
        text = _cited("".join(self._text), self._supports, len(pages))
        return SearchAnswer(text, tuple(Source(page.title or "untitled", page.uri) for page in pages))


def _cited(text: str, supports: list[_Support], pages: int) -> str:
    data = text.encode()
    for support in sorted(supports, key=_end, reverse=True):  # from the end, so that earlier offsets stay valid
        numbers = sorted({index + 1 for index in support.grounding_chunk_indices if 0 <= index < pages})
        place = min(_end(support), len(data))
        data = data[:place] + "".join(f"[{number}]" for number in numbers).encode() + data[place:]
    return data.decode(errors="replace")  # an offset may be wrong, inside a character


def _end(support: _Support) -> int:
    return max(0, support.segment.end_index) if support.segment else 0
