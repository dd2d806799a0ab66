"""Servers of this machine are found by themselves, and nothing else is taken for one."""

import subprocess
import sys
from contextlib import AsyncExitStack
from typing import Any

from assent.models.openai_chat.local_servers import LocalServer, find_local_servers
from assent.models.provider import FoundModel
from support.fake_catalog import FakeCatalog

NOBODY = "http://127.0.0.1:9"
VARIABLES = ("OLLAMA_HOST", "LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL")
LLAMACPP = {
    "/v1/models": {"data": [{"id": "qwen", "owned_by": "llamacpp"}]},
    "/props": {"default_generation_settings": {"n_ctx": 65536}, "chat_template_caps": {"supports_tools": True}},
}
VLLM = {"/v1/models": {"data": [{"id": "big", "owned_by": "vllm", "max_model_len": 131072}]}}
LMSTUDIO = {"/api/v1/models": {"models": [{"key": "a", "type": "llm", "max_context_length": 99999}]}}


def ollama(window: int | None) -> dict[str, Any]:
    return {
        "/api/version": {"version": "0.20.0"},
        "/api/tags": {"models": [{"name": "coder:7b"}]},
        "/api/ps": {"models": [{"name": "coder:7b", "context_length": window}]},
        "/api/show": {"capabilities": ["completion", "tools"]},
    }


async def found(
    answers: dict[str, Any], env: dict[str, str] | None = None, max_wait: float = 20.0
) -> dict[str, LocalServer]:
    """`answers`: what the server of each variable says. Where none is given, nobody listens."""
    async with AsyncExitStack() as stack:
        fakes = {name: await stack.enter_async_context(FakeCatalog(said)) for name, said in answers.items()}
        places = dict.fromkeys(VARIABLES, NOBODY) | {name: fake.url for name, fake in fakes.items()}
        servers = await find_local_servers(places | (env or {}), max_wait, max_wait)
        assert all("authorization" not in head for fake in fakes.values() for head in fake.heads)
    return {server.provider: server for server in servers}


async def test_all_servers_that_run_are_found_with_their_models() -> None:
    servers = await found(dict(zip(VARIABLES, (ollama(65536), LLAMACPP, LMSTUDIO, VLLM), strict=True)))
    assert {name: server.models for name, server in servers.items()} == {
        "ollama": (FoundModel(name="coder:7b", window=65536, tools=True),),
        "llamacpp": (FoundModel(name="qwen", window=65536, tools=True),),
        "lmstudio": (FoundModel(name="a", window=99999),),
        "vllm": (FoundModel(name="big", window=131072),),
    }
    assert all(not server.warning and server.base_url.endswith("/v1") for server in servers.values())


async def test_without_servers_nothing_is_found() -> None:
    assert await found({}) == {}


async def test_another_program_at_the_usual_port_is_not_taken_for_a_server() -> None:
    other: dict[str, Any] = {"/": "hello", "/v1/models": {"data": [{"id": "x", "owned_by": "someone"}]}}
    assert await found(dict.fromkeys(VARIABLES, other)) == {}


async def test_a_key_is_never_sent_while_looking_for_servers() -> None:
    keys = {"OLLAMA_API_KEY": "secret-1", "LLAMACPP_API_KEY": "secret-2"}
    servers = await found({"OLLAMA_HOST": ollama(65536), "LLAMACPP_BASE_URL": LLAMACPP}, keys)
    assert set(servers) == {"ollama", "llamacpp"}  # `found` has looked at the headers


async def test_a_silent_server_is_not_waited_for() -> None:
    async with FakeCatalog({}, hangs=True) as silent:
        assert await find_local_servers(dict.fromkeys(VARIABLES, silent.url), 0.05, 0.05) == ()


async def test_the_host_of_ollama_may_be_written_as_ollama_writes_it() -> None:
    async with FakeCatalog(ollama(65536)) as fake:
        places = dict.fromkeys(VARIABLES, NOBODY) | {"OLLAMA_HOST": f"0.0.0.0:{fake.port}"}
        (server,) = await find_local_servers(places, 20.0, 20.0)
    assert server.base_url == f"http://127.0.0.1:{fake.port}/v1"


async def test_a_small_window_of_ollama_causes_a_warning() -> None:
    warning = (await found({"OLLAMA_HOST": ollama(4096)}))["ollama"].warning
    assert "coder:7b (4,096)" in warning and "OLLAMA_CONTEXT_LENGTH=32768" in warning


async def test_an_unknown_window_of_ollama_causes_a_warning_unless_it_was_set() -> None:
    assert "4,096" in (await found({"OLLAMA_HOST": ollama(None)}))["ollama"].warning
    assert not (await found({"OLLAMA_HOST": ollama(None)}, {"OLLAMA_CONTEXT_LENGTH": "65536"}))["ollama"].warning


async def test_models_that_cannot_call_tools_cause_a_warning() -> None:
    deaf = LLAMACPP | {"/props": {"chat_template_caps": {"supports_tools": False}}}
    assert "cannot call tools" in (await found({"LLAMACPP_BASE_URL": deaf}))["llamacpp"].warning


def test_nothing_of_this_is_loaded_on_the_way_to_a_request() -> None:
    code = "import sys; from assent.models.model_choice import open_model; open_model('llamacpp:m', {}); "
    code += "print(*(name.rpartition('.')[2] for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {"local_servers", "chat_listing", "ollama_listing", "server_catalog", "json_client", "h11", "email", "zlib"}
    assert slow & set(run.stdout.split()) == set()


async def test_only_the_server_that_matters_is_asked() -> None:
    async with FakeCatalog(LLAMACPP) as ours, FakeCatalog({}) as others:
        places = dict.fromkeys(VARIABLES, others.url) | {"LLAMACPP_BASE_URL": ours.url}
        (server,) = await find_local_servers(places, 20.0, 20.0, only="llamacpp")
    assert (server.provider, others.asked) == ("llamacpp", [])
