"""Gemini through Vertex AI: another address and another key, the same words."""

import pytest

from assent.models.gemini.vertex_model import VertexModel, address
from assent.models.model_choice import open_model
from assent.models.model_protocol import AuthFailed, BadRequest, TextChunk
from assent.models.provider import Access
from assent.parts import ModelMessage, Text, UserMessage
from support.fake_gemini import FakeGemini
from support.talk import HELLO

TOKEN = "ya29.test-token-123"


def env(fake: FakeGemini, **more: str) -> dict[str, str]:
    variables = {"GOOGLE_OAUTH_ACCESS_TOKEN": TOKEN, "GOOGLE_VERTEX_BASE_URL": fake.url, "GOOGLE_CLOUD_PROJECT": "p 1"}
    return variables | more


async def test_a_request_goes_to_the_project_and_location_with_a_token() -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        model = open_model("vertex:gemini-3.8-flash", env(fake, GOOGLE_CLOUD_LOCATION="europe-west4"))
        assert model.name == "vertex:gemini-3.8-flash"
        assert TextChunk("hi") in [chunk async for chunk in model.stream(HELLO)]
        await model.close()
        received = fake.requests[0]
    folder = "/v1beta1/projects/p%201/locations/europe-west4/publishers/google/models"
    assert received.path == f"{folder}/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert received.headers["authorization"] == f"Bearer {TOKEN}" and "x-goog-api-key" not in received.headers


async def test_signatures_go_back_in_their_places() -> None:
    history = (
        ModelMessage((Text("a", "from-vertex"),), "vertex:gemini-3.8-flash"),
        ModelMessage((Text("b", "from-google-ai"),), "gemini-3.8-flash"),
        UserMessage((Text("go on"),)),
    )
    async with FakeGemini({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        model = open_model("vertex:gemini-3.8-flash", env(fake))
        _ = [chunk async for chunk in model.stream(type(HELLO)(system="", messages=history))]
        await model.close()
        contents = fake.requests[0].body["contents"]
    assert [content["parts"][0].get("thoughtSignature") for content in contents] == ["from-vertex", None, None]


@pytest.mark.spec("F8")
async def test_an_expired_token_says_how_to_get_another() -> None:
    refused = {"status": 401, "body": {"error": {"code": 401, "message": f"expired {TOKEN}"}}}
    async with FakeGemini({"replies": [refused]}) as fake:
        model = open_model("vertex:gemini-3.8-flash", env(fake))
        with pytest.raises(AuthFailed, match="print-access-token") as failed:
            _ = [chunk async for chunk in model.stream(HELLO)]
        await model.close()
    assert TOKEN not in str(failed.value)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("global", "https://aiplatform.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("us-central1", "https://us-central1-aiplatform.googleapis.com"),
    ],
)
def test_every_place_has_its_host(location: str, url: str) -> None:
    assert address(location) == url


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "GOOGLE_CLOUD_PROJECT"),
        ({"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "evil.test/"}, "GOOGLE_CLOUD_LOCATION"),
        ({"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "a@b"}, "GOOGLE_CLOUD_LOCATION"),
    ],
)
def test_a_token_goes_only_to_hosts_of_google(variables: dict[str, str], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        VertexModel("gemini-x", Access(base_url="https://aiplatform.googleapis.com", key=TOKEN, env=variables))
