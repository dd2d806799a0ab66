"""Searching the web through Gemini: the wire format against Google's own types, and the answer with its sources."""

from typing import Any

import msgspec
import pytest
from google.genai import types

from assent.models.gemini.gemini_model import GeminiModel
from assent.models.gemini.gemini_search import encode_search
from assent.models.model_protocol import BadRequest, BrokenStream, ModelError, Searching, Transient
from assent.models.scripted.scenario import Scenario
from assent.models.scripted.scripted_model import ScriptedModel
from assent.parts import SearchAnswer, Source
from support.fake_gemini import FakeGemini

PAGES = [{"web": {"uri": "https://a.example/x", "title": "a.example"}}, {"web": {"uri": "https://b.example/"}}]


def support(text: str, *indices: int) -> dict[str, Any]:
    """For an answer that begins with this text; Google counts bytes."""
    return {"segment": {"endIndex": len(text.encode()), "text": text}, "groundingChunkIndices": list(indices)}


def grounding(*supports: dict[str, Any], pages: list[dict[str, Any]] | None = None) -> dict[str, str]:
    metadata = {"groundingChunks": PAGES if pages is None else pages, "groundingSupports": list(supports)}
    types.GroundingMetadata.model_validate(metadata)  # what we play is what they may send
    event = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "groundingMetadata": metadata}]}
    return {"raw": f"data: {msgspec.json.encode(event).decode()}\r\n\r\n"}


async def search(*chunks: dict[str, Any], **reply: Any) -> tuple[SearchAnswer, dict[str, Any]]:
    async with FakeGemini({"replies": [{"chunks": list(chunks), **reply}]}) as fake:
        model = GeminiModel("gemini-2.5-flash", "key", fake.url)
        try:
            answer = await model.search("how high is it?")
        finally:
            await model.close()
        return answer, fake.requests[0].body


@pytest.mark.spec("E3")
async def test_the_answer_has_its_sources_in_their_places() -> None:
    sources = grounding(support("Größe: 8848 m.", 0), support("Größe: 8848 m. Yes.", 1, 0))
    answer, sent = await search({"text": "Größe: 8"}, {"text": "848 m. Yes."}, sources)
    assert answer.text == "Größe: 8848 m.[1] Yes.[1][2]"
    assert answer.sources == (Source("a.example", "https://a.example/x"), Source("untitled", "https://b.example/"))
    (tool,) = [types.Tool.model_validate(tool) for tool in sent["tools"]]
    assert tool.google_search is not None
    assert types.Content.model_validate(sent["contents"][0]).parts == [types.Part(text="how high is it?")]
    assert msgspec.json.decode(encode_search("how high is it?")) == sent


async def test_odd_sources_do_not_lose_the_answer() -> None:
    odd = [
        support("Yes", 7),
        {"groundingChunkIndices": [0]},
        {"segment": {"endIndex": 999}, "groundingChunkIndices": [1]},
        {"segment": {"endIndex": 5}, "groundingChunkIndices": [0]},
    ]
    answer, _ = await search({"text": "Yes ü"}, grounding(*odd, pages=[{}, *PAGES[1:]]))
    assert answer.text == "[1]Yes \ufffd[1]\ufffd[2]"
    assert answer.sources[0] == Source("untitled", "")
    assert (await search({"text": "Yes."}))[0] == SearchAnswer("Yes.")


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ([{"error": {"kind": "transient"}}], Transient),
        ([{"text": "Yes."}, {"cut": True}], BrokenStream),
        ([{"text": "Yes."}, {"raw": 'data: {"candidates":[{"groundingMetadata":7}]}\r\n\r\n'}], BrokenStream),
        ([{"error": {"kind": "bad_request"}}], BadRequest),
    ],
)
async def test_a_search_that_fails_is_a_failure_of_the_model(
    chunks: list[dict[str, Any]], kind: type[ModelError]
) -> None:
    with pytest.raises(kind):
        await search(*chunks)


def test_only_some_models_can_search() -> None:
    assert isinstance(GeminiModel("gemini-2.5-flash", "key"), Searching)
    assert not isinstance(ScriptedModel(Scenario()), Searching)
