"""Providers of one's own: `[providers.NAME]` of the settings, and what a base URL may look like."""

from pathlib import Path

import pytest

from assent.app.model_access import DeferredModel, ModelAccess
from assent.config import BadSettings, OwnProvider, Settings, parse_settings
from assent.models.model_choice import access_to, base_url, open_model
from assent.models.model_facts import context_window
from assent.models.model_protocol import AuthFailed, BadRequest, Finished, Request, TextChunk, UnknownModel
from assent.models.openai_chat.chat_model import ChatModel
from assent.models.provider_registry import find_provider, full_name, provider_names, provider_of, split_name
from assent.parts import Text, UserMessage
from support.fake_anthropic import FakeAnthropic
from support.fake_chat import FakeChat
from support.fake_gemini import FakeGemini
from support.fake_responses import FakeResponses
from support.fake_server import FakeServer

HELLO = Request(system="", messages=(UserMessage((Text("hello"),)),))
HI = {"replies": [{"chunks": [{"text": "hi"}]}]}


def settings(text: str) -> Settings:
    return parse_settings(text.encode(), Path("settings.toml"))


async def test_a_persons_own_server_is_defined_in_the_settings() -> None:
    async with FakeChat(HI) as fake:
        own = settings(f'[providers.office]\nbase_url = "{fake.url}/llm/v1"\nkey_variable = "OFFICE_KEY"').providers
        model = open_model("office:qwen3:8b", {"OFFICE_KEY": "k-1"}, own)
        assert model.name == "office:qwen3:8b"
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        await model.close()
    assert fake.requests[0].path == "/llm/v1/chat/completions"
    assert fake.requests[0].headers["authorization"] == "Bearer k-1" and fake.requests[0].body["model"] == "qwen3:8b"


@pytest.mark.parametrize(
    ("kind", "fake_kind"),
    [("gemini", FakeGemini), ("anthropic", FakeAnthropic), ("openai", FakeResponses), ("vllm", FakeChat)],
)
async def test_it_may_be_of_any_built_in_kind(kind: str, fake_kind: type[FakeServer]) -> None:
    async with fake_kind(HI) as fake:
        own = {"proxy": OwnProvider(kind=kind, base_url=fake.url, key_variable="K")}
        model = open_model("proxy:claude-gpt-gemini", {"K": "k-1"}, own)
        assert model.name == "proxy:claude-gpt-gemini"
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        await model.close()


async def test_a_deferred_model_finds_a_local_server_too() -> None:
    async with FakeChat(HI) as fake:
        settings = Settings(providers={"office": OwnProvider(base_url=fake.url)})
        model = DeferredModel("office:m", ModelAccess({}, settings))
        assert [chunk async for chunk in model.stream(HELLO)] == [TextChunk("hi"), Finished("stop")]
        await model.close()
    assert fake.requests[0].path == "/v1/chat/completions" and "authorization" not in fake.requests[0].headers


def test_it_is_like_the_built_in_one_of_its_kind() -> None:
    built_in = find_provider("mistral")
    provider = find_provider("eu", {"eu": OwnProvider(kind="mistral", base_url="https://eu.example/v1")})
    assert (provider.name, provider.base_url, provider.key_variables) == ("eu", "https://eu.example/v1", ())
    model = provider.connect("m", access_to(provider, {"MISTRAL_API_KEY": "never sent"}))
    assert isinstance(model, ChatModel) and built_in.key_variables == ("MISTRAL_API_KEY",)


def test_a_built_in_provider_can_get_another_address_and_keeps_the_rest() -> None:
    own = {"ollama": OwnProvider(base_url="http://gpu:11434", default_model="coder")}
    provider = find_provider("ollama", own)
    assert base_url(provider, {}) == "http://gpu:11434/v1" and provider.default_model == "coder"
    assert provider.title == "Ollama" and provider.key_variables == ("OLLAMA_API_KEY",)


def test_a_key_is_not_sent_unencrypted_except_on_this_machine() -> None:
    far = {"far": OwnProvider(base_url="http://llm.example/v1", key_variable="K")}
    near = {"near": OwnProvider(base_url="http://localhost:5000/v1", key_variable="K")}
    with pytest.raises(BadRequest, match=r"providers\.far\.base_url .* must use https"):
        open_model("far:m", {"K": "k-1"}, far)
    open_model("near:m", {"K": "k-1"}, near)
    open_model("far:m", {}, {"far": OwnProvider(base_url="http://llm.example/v1")})


def test_a_missing_key_is_reported_by_the_name_of_its_variable() -> None:
    with pytest.raises(AuthFailed, match="export OFFICE_KEY="):
        open_model("office:m", {}, {"office": OwnProvider(base_url="https://x.example", key_variable="OFFICE_KEY")})


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (OwnProvider(kind="nonsense", base_url="https://x.example"), r"providers\.a\.kind is 'nonsense'"),
        (OwnProvider(), r"providers\.a needs a base_url"),
        (OwnProvider(base_url="x.example"), "is not an address"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(own: OwnProvider, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        open_model("a:m", {}, {"a": own})


@pytest.mark.parametrize(
    "text",
    [
        '[providers."A B"]\nbase_url = "https://x.example"',
        "[providers.a]\nbase_url = 3",
        '[providers.a]\napi_key = "sk-1"',
        "[providers.a]\ncontext_window = 0",
    ],
)
def test_settings_that_are_wrong_are_refused(text: str) -> None:
    with pytest.raises(BadSettings, match="providers"):
        settings(text)


def test_a_setting_that_is_none_of_its_words_is_refused_with_the_words() -> None:
    with pytest.raises(BadSettings, match=r"`effort` must be one of none, minimal, .*max, not 'huge'"):
        settings('effort = "huge"')
    with pytest.raises(BadSettings, match="`gate` must be one of batch, eager, not 'both'"):
        settings('gate = "both"')


def test_names_mean_the_same_everywhere() -> None:
    own = {"office": OwnProvider(base_url="https://x.example", context_window=65_536)}
    assert split_name("office:a:b", own) == ("office", "a:b") and "office" in provider_names(own)
    assert context_window("office:m", own) == 65_536
    assert provider_of("office:m") == "office", "also when the settings have it no longer"
    with pytest.raises(UnknownModel, match="office"):
        split_name("nowhere:m", own)
    with pytest.raises(UnknownModel, match="there is no provider 'ofice': did you mean office:m:1"):
        split_name("ofice:m:1", own)
    with pytest.raises(UnknownModel, match="does not say which provider"):
        split_name("llama3:8b", own)
    assert full_name("deepseek", "deepseek-v4-pro") == "deepseek-v4-pro"
    assert split_name("openrouter:deepseek/deepseek-v4:free") == ("openrouter", "deepseek/deepseek-v4:free")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("[::]:5000", "http://127.0.0.1:5000/v1"),
        (":5000", "http://127.0.0.1:5000/v1"),
        ("gpu", "http://gpu:11434/v1"),
        ("gpu:5000", "http://gpu:5000/v1"),
        ("https://ollama.example", "https://ollama.example/v1"),
        ("https://x.example/ollama/v1", "https://x.example/ollama/v1"),
    ],
)
def test_ollama_is_where_its_own_variable_says(host: str, url: str) -> None:
    assert base_url(find_provider("ollama"), {"OLLAMA_HOST": host}) == url


@pytest.mark.parametrize("name", [name for name in provider_names() if name not in ("scripted", "gguf")])
def test_every_provider_can_be_found_and_says_how_it_is_reached(name: str) -> None:
    provider = find_provider(name)
    assert provider.name == name and provider.title and provider.base_url_variable
    assert provider.base_url or name == "azure"
    assert provider.key_optional or (provider.key_variables and provider.key_page.startswith("https://"))
    assert all(known.window > 0 for known in provider.models)


def test_azure_without_an_address_says_what_to_set() -> None:
    with pytest.raises(BadRequest, match="AZURE_OPENAI_ENDPOINT"):
        open_model("azure:gpt", {"AZURE_OPENAI_API_KEY": "k-1"})
