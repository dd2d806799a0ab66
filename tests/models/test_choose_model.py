"""From a name and an environment to a model."""

import subprocess
import sys
from pathlib import Path

import pytest

from assent.models.gemini.gemini_model import GeminiModel
from assent.models.model_choice import open_model
from assent.models.model_protocol import AuthFailed, BadRequest, Finished, Model, Request, TextChunk
from assent.parts import Text, UserMessage
from support.fake_gemini import FakeGemini

HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))
KEY = {"GEMINI_API_KEY": "k"}


async def reply_of(model: Model) -> list[object]:
    return [chunk async for chunk in model.stream(HELLO)]


async def test_scripted_plays_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hello.json"
    path.write_text('{"replies": [{"chunks": [{"text": "hi"}]}]}')
    model = open_model(f"scripted:{path}", {})
    assert model.name == f"scripted:{path}"
    assert await reply_of(model) == [TextChunk("hi"), Finished("stop")]


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
async def test_any_other_name_is_gemini_with_the_key_of_the_environment(variable: str) -> None:
    async with FakeGemini({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        model = open_model("gemini-2.5-flash", {variable: " k1\n", "GOOGLE_GEMINI_BASE_URL": fake.url})
        assert isinstance(model, GeminiModel) and model.name == "gemini-2.5-flash"
        assert await reply_of(model) == [TextChunk("hi"), Finished("stop")]
        assert fake.requests[0].headers["x-goog-api-key"] == "k1"
        await model.close()


@pytest.mark.spec("F8")
@pytest.mark.parametrize("env", [{}, {"GEMINI_API_KEY": ""}, {"GEMINI_API_KEY": " "}])
def test_without_a_key_three_lines_say_what_to_do(env: dict[str, str]) -> None:
    with pytest.raises(AuthFailed) as refused:
        open_model("gemini-2.5-flash", env)
    get, put, without = str(refused.value).split("\n")
    assert "https://aistudio.google.com/apikey" in get
    assert "export GEMINI_API_KEY=" in put
    assert "assent login gemini" in put and "assent tour" in without


def test_a_key_is_not_sent_unencrypted() -> None:
    with pytest.raises(BadRequest, match="must use https"):
        open_model("gemini-2.5-flash", KEY | {"GOOGLE_GEMINI_BASE_URL": "http://model.example"})


def test_an_invalid_base_url_is_rejected() -> None:
    with pytest.raises(BadRequest, match="is not an address"):
        open_model("gemini-2.5-flash", KEY | {"GOOGLE_GEMINI_BASE_URL": "model.example"})


def test_an_unsupported_proxy_is_rejected() -> None:
    with pytest.raises(BadRequest, match="HTTPS_PROXY"):
        open_model("gemini-2.5-flash", KEY | {"HTTPS_PROXY": "socks5://proxy.example"})


SLOW = "h11 httpx httpx2 email http urllib.request google pydantic"


def test_opening_gemini_imports_nothing_slow() -> None:
    code = (
        f"import sys, asyncio; from assent.models.model_choice import open_model; open_model('gemini-2.5-pro', {KEY}); "
    )
    code += f"print([name for name in '{SLOW}'.split() if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
