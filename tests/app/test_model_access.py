"""Which model a session gets: environment, settings, the first key, a server on this machine, or advice."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from assent.app.key_check import find_key_taker
from assent.app.model_access import DeferredModel, ModelAccess
from assent.config import KeyReference, OwnProvider, Settings
from assent.models.model_protocol import AuthFailed, BadRequest, Finished, Request, TextChunk
from assent.parts import Text, UserMessage
from support.fake_catalog import FakeCatalog
from support.fake_chat import FakeChat
from support.program import NO_SERVERS

HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))


def llamacpp(*, tools: bool = True, window: int = 65536) -> dict[str, Any]:
    return {
        "/v1/models": {"data": [{"id": "qwen", "owned_by": "llamacpp"}]},
        "/props": {"default_generation_settings": {"n_ctx": window}, "chat_template_caps": {"supports_tools": tools}},
    }


@pytest.fixture
async def server() -> AsyncIterator[FakeCatalog]:
    async with FakeCatalog(llamacpp()) as fake:
        yield fake


def access(tmp_path: Path, settings: Settings | None = None, /, **env: str) -> ModelAccess:
    return ModelAccess(NO_SERVERS | {"ASSENT_HOME": str(tmp_path)} | env, settings or Settings())


@pytest.mark.spec("K2")
async def test_the_environment_takes_precedence_over_the_settings_and_these_over_a_key(tmp_path: Path) -> None:
    settings = Settings(model="from-settings:m")
    key = {"GEMINI_API_KEY": "k"}
    assert await access(tmp_path, settings, ASSENT_MODEL="from-env:m", **key).choose() == "from-env:m"
    assert await access(tmp_path, settings, **key).choose() == "from-settings:m"
    assert await access(tmp_path, **key).choose() == "gemini-2.5-pro"


@pytest.mark.spec("K2")
@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (("GEMINI_API_KEY", "ANTHROPIC_API_KEY"), "gemini-2.5-pro"),
        (("GOOGLE_API_KEY",), "gemini-2.5-pro"),
        (("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "claude-sonnet-5-5"),
        (("OPENAI_API_KEY",), "gpt-6.1-sol"),
        (("DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"), "deepseek-v4-flash"),
    ],
)
async def test_the_first_provider_with_a_key_is_used(tmp_path: Path, keys: tuple[str, ...], chosen: str) -> None:
    assert await access(tmp_path, **dict.fromkeys(keys, "k")).choose() == chosen


async def test_a_persons_own_provider_takes_precedence(tmp_path: Path) -> None:
    office = OwnProvider(base_url="https://models.example/v1", default_model="m")
    assert await access(tmp_path, Settings(providers={"office": office}), GEMINI_API_KEY="k").choose() == "office:m"


@pytest.mark.spec("K2")
async def test_without_a_key_a_server_on_this_machine_is_used(tmp_path: Path, server: FakeCatalog) -> None:
    models = access(tmp_path, LLAMACPP_BASE_URL=server.url)
    assert await models.choose() == "llamacpp:qwen"
    assert models.window("llamacpp:qwen") == 65536


@pytest.mark.spec("K2")
async def test_no_server_is_looked_for_if_a_model_or_a_key_is_configured(tmp_path: Path, server: FakeCatalog) -> None:
    place = {"LLAMACPP_BASE_URL": server.url}
    await access(tmp_path, Settings(model="claude-opus-5-5"), **place).choose()
    await access(tmp_path, OPENAI_API_KEY="k", **place).choose()
    assert server.asked == []


@pytest.mark.spec("K2")
async def test_without_a_model_the_message_names_three_ways_forward(tmp_path: Path) -> None:
    with pytest.raises(AuthFailed) as nothing:
        await access(tmp_path).choose()
    for way in ("assent login", "start Ollama", "assent tour"):
        assert way in str(nothing.value)


async def test_a_server_whose_models_cannot_call_tools_is_not_chosen_but_named(tmp_path: Path) -> None:
    async with FakeCatalog(llamacpp(tools=False)) as fake:
        with pytest.raises(AuthFailed, match=r"llama\.cpp is running, but has no model that can call tools"):
            await access(tmp_path, LLAMACPP_BASE_URL=fake.url).choose()


async def test_a_key_without_a_usual_model_says_how_to_choose_one(tmp_path: Path) -> None:
    with pytest.raises(AuthFailed, match="-m openrouter:MODEL"):
        await access(tmp_path, OPENROUTER_API_KEY="k").choose()


@pytest.mark.spec("K2")
async def test_a_model_that_cannot_call_tools_is_recognised_when_it_is_chosen(tmp_path: Path) -> None:
    async with FakeCatalog(llamacpp(tools=False)) as fake:
        said = await access(tmp_path, LLAMACPP_BASE_URL=fake.url).inspect("llamacpp:qwen")
    assert said.startswith("llamacpp:qwen cannot call tools")


async def test_a_listed_model_is_not_asked_about(tmp_path: Path) -> None:
    async with FakeCatalog({}) as fake:
        said = await access(tmp_path, ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=fake.url).inspect("claude-opus-5-5")
    assert (said, fake.asked) == ("", [])


async def test_the_window_reported_by_the_provider_counts_for_an_unlisted_model(tmp_path: Path) -> None:
    listing = {"/v1/models": {"data": [{"id": "m", "max_model_len": 5_000}]}}
    async with FakeCatalog(listing) as fake:
        models = access(tmp_path, Settings(providers={"office": OwnProvider(base_url=f"{fake.url}/v1")}))
        before = models.window("office:m")
        await models.inspect("office:m")
    assert (before, models.window("office:m")) == (32_768, 5_000)


def test_the_window_in_the_settings_takes_precedence(tmp_path: Path) -> None:
    assert access(tmp_path, Settings(context_window=9_000)).window("gemini-2.5-pro") == 9_000


@pytest.mark.spec("F8")
async def test_a_missing_key_is_known_without_a_request(tmp_path: Path) -> None:
    assert "assent login anthropic" in await access(tmp_path).problem("claude-opus-5-5")
    assert await access(tmp_path, ANTHROPIC_API_KEY="k").problem("claude-opus-5-5") == ""


async def test_a_deferred_model_without_a_name_is_chosen_with_the_first_request(tmp_path: Path) -> None:
    async with FakeChat({"replies": [{"chunks": [{"text": "hi"}]}]}) as fake:
        office = OwnProvider(base_url=fake.url, default_model="m")
        model = DeferredModel("", access(tmp_path, Settings(providers={"office": office})))
        assert model.name == ""
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        await model.close()
    assert model.name == "office:m"


@pytest.mark.spec("K3")
async def test_a_token_that_ran_out_is_asked_for_again(tmp_path: Path) -> None:
    """The command prints another token each time, as gcloud does."""
    tokens = tmp_path / "tokens"
    tokens.write_text("first-token-0123456789\nsecond-token-0123456789\n")
    command = ("sed", "-i", "-e", "1w /dev/stdout", "-e", "1d", str(tokens))
    refused = {"status": 401, "body": {"error": {"message": "expired"}}}
    hi = {"chunks": [{"text": "hi"}]}
    async with FakeChat({"replies": [hi, refused, hi]}) as fake:
        office = OwnProvider(base_url=fake.url, default_model="m")
        settings = Settings(providers={"office": office}, keys={"office": KeyReference(command=command)})
        model = access(tmp_path, settings, PATH=os.environ["PATH"]).open("office:m")
        for _ in range(2):
            assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        await model.close()
        sent = [request.headers["authorization"] for request in fake.requests]
    assert sent == [f"Bearer {which}-token-0123456789" for which in ("first", "first", "second")]


async def test_a_token_that_is_refused_again_is_told(tmp_path: Path) -> None:
    refused = {"status": 401, "body": {"error": {"message": "expired"}}, "repeat": 2}
    async with FakeChat({"replies": [refused]}) as fake:
        office = OwnProvider(base_url=fake.url, default_model="m")
        settings = Settings(
            providers={"office": office}, keys={"office": KeyReference(command="echo token-0123456789")}
        )
        model = access(tmp_path, settings, PATH=os.environ["PATH"]).open("office:m")
        with pytest.raises(AuthFailed, match="expired"):
            _ = [chunk async for chunk in model.stream(HELLO)]
        await model.close()
        assert len(fake.requests) == 2


def test_tokens_of_vertex_are_not_stored_but_made_by_a_command(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="gcloud auth print-access-token"):
        find_key_taker(access(tmp_path), "vertex")
    with pytest.raises(AuthFailed, match="gcloud auth print-access-token"):
        access(tmp_path, GOOGLE_CLOUD_PROJECT="p").open("vertex:gemini-2.5-pro")
