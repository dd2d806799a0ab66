"""`ollama serve`, and nothing else: no key, no flag, no setting. Assent finds the server and works with its model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.llama_server import LlamaServer
from support.ollama_server import MODEL, OllamaServer
from support.program import Program
from support.real_loop import PROMPT, answer_question, program

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K2")]


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaServer]:
    with LlamaServer() as llama, OllamaServer(llama) as server:
        yield server


@pytest.fixture
def assent(tmp_path: Path, ollama: OllamaServer) -> Program:
    return program(tmp_path, {"OLLAMA_HOST": ollama.host})


def test_the_model_is_listed_with_what_its_window_means(assent: Program) -> None:
    listed = assent.run("models")
    assert listed.code == 0 and f"Without -m: ollama:{MODEL}" in listed.out
    assert "8,192" in assent.run("models", "ollama").out
    assert "start it with OLLAMA_CONTEXT_LENGTH=32768 or more." in listed.out


def test_a_whole_loop_needs_neither_key_nor_flag(assent: Program) -> None:
    with assent.start("-p", PROMPT, "-o", "stream-json", "--ask", "wait") as running:
        running.goes_on()
        answer_question(assent, running, "yes")
        done = running.wait()
    assert done.code == 0, done.err
    assert done.of_type("session.created")[0]["model"] == f"ollama:{MODEL}"
    assert (assent.folder / "made.txt").exists() and done.result["response"].strip()
