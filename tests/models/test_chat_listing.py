"""Which models a server has, asked in the way of each server."""

from typing import Any

import pytest

from assent.models.model_choice import access_to
from assent.models.model_protocol import AuthFailed, BrokenStream, Transient
from assent.models.openai_chat.chat_servers import SERVERS
from assent.models.provider import FoundModel
from assent.models.provider_registry import find_provider
from support.fake_catalog import FakeCatalog

VARIABLES = {server.name: (server.base_url_variable, server.key_variables[:1]) for server in SERVERS}


async def listed(name: str, answers: dict[str, Any], status: int = 200) -> list[FoundModel]:
    async with FakeCatalog(answers, status) as fake:
        url, keys = VARIABLES[name]
        provider = find_provider(name)
        assert provider.list_models is not None
        return list(await provider.list_models(access_to(provider, {url: fake.url, **dict.fromkeys(keys, "key-123")})))


@pytest.mark.parametrize(
    ("name", "path", "entry", "expected"),
    [
        ("openai-chat", "/v1/models", {"owned_by": "openai"}, FoundModel(name="m")),
        (
            "openrouter",
            "/api/v1/models",
            {"context_length": 9, "supported_parameters": ["tools"], "top_provider": {"max_completion_tokens": 4}},
            FoundModel(name="m", window=9, output=4, tools=True),
        ),
        ("openrouter", "/api/v1/models", {"supported_parameters": []}, FoundModel(name="m", tools=False)),
        (
            "groq",
            "/openai/v1/models",
            {"context_window": 9, "max_completion_tokens": 4},
            FoundModel(name="m", window=9, output=4),
        ),
        (
            "mistral",
            "/v1/models",
            {"max_context_length": 9, "capabilities": {"function_calling": True, "vision": False}},
            FoundModel(name="m", window=9, tools=True),
        ),
        ("vllm", "/v1/models", {"max_model_len": 9, "owned_by": "vllm"}, FoundModel(name="m", window=9)),
        ("deepseek", "/models", {}, FoundModel(name="m")),
        (
            "fireworks",
            "/inference/v1/models",
            {"context_length": 9, "supports_tools": False},
            FoundModel(name="m", window=9, tools=False),
        ),
    ],
)
async def test_each_server_reports_it_in_its_own_fields(
    name: str, path: str, entry: dict[str, Any], expected: FoundModel
) -> None:
    answers = {path: {"object": "list", "data": [{"id": "m", "object": "model", **entry}]}}
    assert await listed(name, answers) == [expected]


async def test_a_bare_list_is_accepted() -> None:
    assert await listed("together", {"/v1/models": [{"id": "m", "context_length": 9}]}) == [
        FoundModel(name="m", window=9)
    ]


async def test_llamacpp_reports_its_actual_window_and_whether_its_template_has_tools() -> None:
    answers = {
        "/v1/models": {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 99, "n_ctx": None}}]},
        "/props": {"default_generation_settings": {"n_ctx": 8}, "chat_template_caps": {"supports_tools": False}},
    }
    assert await listed("llamacpp", answers) == [FoundModel(name="m", window=8, tools=False)]
    assert await listed("llamacpp", {"/v1/models": answers["/v1/models"]}) == [FoundModel(name="m")]


async def test_litellm_reports_more_about_the_models_behind_it() -> None:
    answers = {
        "/v1/models": {"data": [{"id": "a"}, {"id": "b"}]},
        "/model/info": {
            "data": [
                {"model_name": "a", "model_info": {"max_input_tokens": 9, "supports_function_calling": True}},
                {"model_name": "b", "model_info": {"max_input_tokens": None}},
            ]
        },
    }
    assert await listed("litellm", answers) == [FoundModel(name="a", window=9, tools=True), FoundModel(name="b")]


def ollama(running: list[dict[str, Any]], parameters: str = "") -> dict[str, Any]:
    shown = {
        "coder:7b": {
            "capabilities": ["completion", "tools"],
            "parameters": parameters,
            "model_info": {"q.context_length": 9**6},
        },
        "old:1b": {"capabilities": ["completion"]},
        "embed": {"capabilities": ["embedding"]},
    }
    return {
        "/api/version": {"version": "0.20.0"},
        "/api/tags": {"models": [{"name": name, "size": 1} for name in shown]},
        "/api/ps": {"models": running},
        "/api/show": lambda asked: shown[asked["model"]],  # pyright: ignore[reportUnknownLambdaType]
    }  # fmt: skip


async def test_ollama_reports_the_window_a_model_is_loaded_with_not_the_trained_one() -> None:
    assert await listed("ollama", ollama([{"name": "coder:7b", "context_length": 4096}])) == [
        FoundModel(name="coder:7b", window=4096, tools=True),
        FoundModel(name="old:1b", tools=False),
    ]


async def test_ollama_reports_the_window_a_model_will_be_loaded_with() -> None:
    models = await listed("ollama", ollama([], "stop  x\nnum_ctx                        65536"))
    assert models[0] == FoundModel(name="coder:7b", window=65536, tools=True)
    assert (await listed("ollama", ollama([])))[0].window is None


async def test_lm_studio_has_two_apis() -> None:
    newer: list[dict[str, Any]] = [
        {
            "type": "llm",
            "key": "a",
            "max_context_length": 99,
            "loaded_instances": [{"id": "a", "config": {"context_length": 9}}],
            "capabilities": {"vision": False, "trained_for_tool_use": True},
        },
        {"type": "llm", "key": "b", "max_context_length": 99, "loaded_instances": []},
        {"type": "embedding", "key": "c"},
    ]
    older: list[dict[str, Any]] = [
        {"id": "a", "type": "llm", "max_context_length": 99, "loaded_context_length": 9, "capabilities": ["tool_use"]},
        {"id": "b", "type": "vlm", "max_context_length": 99, "capabilities": []},
        {"id": "c", "type": "embeddings"},
    ]
    first = FoundModel(name="a", window=9, tools=True)
    assert await listed("lmstudio", {"/api/v1/models": {"models": newer}}) == [first, FoundModel(name="b", window=99)]
    assert await listed("lmstudio", {"/api/v0/models": {"data": older}}) == [
        first,
        FoundModel(name="b", window=99, tools=False),
    ]
    assert await listed("lmstudio", {"/v1/models": {"data": [{"id": "a"}]}}) == [FoundModel(name="a")]


async def test_azure_only_shows_that_the_key_is_valid() -> None:
    assert await listed("azure", {"/openai/v1/models": {"data": [{"id": "gpt-4o"}]}}) == []


@pytest.mark.parametrize("name", ["openai-chat", "azure", "litellm"])
async def test_a_rejected_key_is_reported(name: str) -> None:
    path = "/openai/v1/models" if name == "azure" else "/v1/models"
    with pytest.raises(AuthFailed):
        await listed(name, {path: {"error": {"message": "no"}}}, status=401)


async def test_a_response_that_is_not_a_list_is_reported() -> None:
    with pytest.raises(BrokenStream, match="list of models"):
        await listed("vllm", {"/v1/models": {"models": "none"}})


async def test_a_missing_server_is_reported() -> None:
    provider = find_provider("vllm")
    assert provider.list_models is not None
    async with FakeCatalog({}) as fake:
        url = fake.url
    with pytest.raises(Transient, match="refused"):
        await provider.list_models(access_to(provider, {"VLLM_BASE_URL": url}))
