"""Whole loops through LiteLLM, a gateway that speaks all four wire formats, in front of a real model; and its failures.

It has shapes of its own: Google's events without ids and usage, errors in the middle of a stream, a usage chunk with a
choice. `make integration` installs it.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.failing_proxy import FailingProxy
from support.gateway import Gateway
from support.llama_server import KEY, NAME, LlamaServer
from support.program import Ended
from support.real_loop import MARK, PROMPT, program, run, run_with_answer, start

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K1")]
PROVIDERS = {
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": KEY},
    "anthropic": {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": KEY},
    "openai": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": KEY},
    "litellm": {"LITELLM_BASE_URL": "{url}/v1", "LITELLM_API_KEY": KEY},
}


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


@pytest.fixture(scope="module")
def gateway(llama: LlamaServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with Gateway(llama, tmp_path_factory.mktemp("gateway")) as server:
        yield server


def environment(provider: str, url: str) -> dict[str, str]:
    return {name: value.format(url=url) for name, value in PROVIDERS[provider].items()}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_whole_loop_in_every_wire_format(tmp_path: Path, gateway: Gateway, provider: str) -> None:
    assent = program(tmp_path, environment(provider, gateway.url))
    done = run_with_answer(assent, f"{provider}:{NAME}", PROMPT)
    assert done.code == 0, done.err
    assert [event["status"] for event in done.of_type("call.finished")] == ["success"]
    assert (assent.folder / "made.txt").exists() and done.result["response"].strip()


@pytest.mark.spec("K4")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_call_that_is_cut_once_runs_once(tmp_path: Path, gateway: Gateway, provider: str) -> None:
    with FailingProxy(gateway.url, MARK, "cut") as proxy:
        assent = program(tmp_path, environment(provider, proxy.url))
        done = run_with_answer(assent, f"{provider}:{NAME}", PROMPT)
    assert done.code == 0, done.err
    assert len(done.of_type("model.retry")) == 1 and len(done.of_type("call.requested")) == 1


@pytest.mark.spec("K4")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_that_stops_coming_can_be_interrupted_and_none_of_it_runs(
    tmp_path: Path, gateway: Gateway, provider: str
) -> None:
    with FailingProxy(gateway.url, MARK, "stall") as proxy:
        assent = program(tmp_path, environment(provider, proxy.url))
        with start(assent, f"{provider}:{NAME}", PROMPT, "--approval-mode", "yolo") as running:
            assert proxy.broken.wait(600)
            running.signal(signal.SIGINT)
            done = running.wait()
    assert done.code == 130
    assert not done.of_type("call.requested") and not (assent.folder / "made.txt").exists()
    assert "Traceback" not in done.err


@pytest.mark.spec("K4")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_dies_behind_the_gateway_is_told_and_nothing_runs(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, provider: str
) -> None:
    with (
        LlamaServer() as llama,
        Gateway(llama, tmp_path_factory.mktemp("gateway")) as gateway,
        FailingProxy(gateway.url, b"data:", "kill", kill=llama.kill) as proxy,
    ):
        assent = program(tmp_path, environment(provider, proxy.url))
        done = run(assent, f"{provider}:{NAME}", PROMPT, "--approval-mode", "yolo")
    assert_told(done)
    assert not done.of_type("call.finished") and not (assent.folder / "made.txt").exists()


@pytest.mark.spec("K4")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("model", ["dead", "mock-429", "mock-500", "mock-midstream-error"])
def test_what_the_gateway_reports_is_told_in_a_sentence(
    tmp_path: Path, gateway: Gateway, provider: str, model: str
) -> None:
    assent = program(tmp_path, environment(provider, gateway.url))
    done = run(assent, f"{provider}:{model}", PROMPT)
    if (provider, model) == ("anthropic", "mock-midstream-error"):
        assert "mock_streaming_error" in done.result["response"], "here, LiteLLM says it in a complete message"
    else:
        assert_told(done)


def assert_told(done: Ended) -> None:
    assert done.code == 1, done.out
    assert done.result["error"]["message"].strip()
    assert KEY not in done.out and "Traceback" not in done.out + done.err
