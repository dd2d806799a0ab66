"""Whole loops with a real model, run by llama.cpp, which speaks three of our wire formats, and inside of Assent.

Prompt, call, approval, result, answer. `make integration` installs what is needed.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.llama_server import LlamaServer
from support.real_loop import COMMAND, ENVIRONMENTS, GGUF, PROMPT, READ, environment, program, run, run_with_answer

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K1")]
MODELS = (GGUF, *ENVIRONMENTS)


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


@pytest.mark.parametrize("model", MODELS)
def test_a_command_runs_after_a_yes_and_its_result_is_answered(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    assent = program(tmp_path, environment(model, llama.url))
    done = run_with_answer(assent, model, PROMPT)
    assert COMMAND in json.dumps(done.of_type("approval.requested"))
    assert done.code == 0, done.err
    assert [event["status"] for event in done.of_type("call.finished")] == ["success"]
    assert (assent.folder / "made.txt").exists()
    assert done.result["response"].strip()


@pytest.mark.parametrize("model", MODELS)
def test_a_command_does_not_run_after_a_no(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    assent = program(tmp_path, environment(model, llama.url))
    done = run_with_answer(assent, model, PROMPT, "no")
    assert [event["status"] for event in done.of_type("call.finished")] == ["cancelled"]
    assert not (assent.folder / "made.txt").exists()


@pytest.mark.parametrize("model", MODELS)
def test_a_file_is_read_without_a_question(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    assent = program(tmp_path, environment(model, llama.url))
    done = run(assent, model, READ)
    assert done.code == 0, done.err
    assert "Tuesday" in json.dumps(done.of_type("call.finished")[0])
    assert done.result["response"].strip() and not done.of_type("approval.requested")


def test_a_conversation_goes_on_with_another_provider(tmp_path: Path, llama: LlamaServer) -> None:
    """Each of them takes what the others have said and done; whether it calls again is up to the model."""
    variables = [environment(model, llama.url) for model in ENVIRONMENTS]
    assent = program(tmp_path, {name: value for env in variables for name, value in env.items()})
    first = run(assent, MODELS[-1], READ)
    assert "Tuesday" in json.dumps(first.of_type("call.finished"))
    for model in MODELS[:-1]:
        done = run(assent, model, READ, "--resume")
        assert done.code == 0, done.err
        assert done.result["response"].strip()
    writers = {event["model"] for event in assent.events_of_type("model.message")}
    assert len(writers) == len(MODELS)
