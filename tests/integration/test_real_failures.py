"""A real server whose replies are cut, stop coming, or end because it was killed: nothing half runs, and it is said."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.failing_proxy import FailingProxy
from support.llama_server import LlamaServer
from support.program import Ended
from support.real_loop import ENVIRONMENTS, GGUF, MARK, PROMPT, READ, environment, program, run, run_with_answer, start

pytestmark = [pytest.mark.timeout(600), pytest.mark.spec("K4")]
ALWAYS = 1_000


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as server:
        yield server


def assert_nothing_ran(done: Ended, folder: Path) -> None:
    assert not done.of_type("call.requested") and not (folder / "made.txt").exists()
    assert "Traceback" not in done.err


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_call_that_is_cut_once_is_asked_for_again_and_runs_once(
    tmp_path: Path, llama: LlamaServer, model: str
) -> None:
    with FailingProxy(llama.url, MARK, "cut") as proxy:
        assent = program(tmp_path, environment(model, proxy.url))
        done = run_with_answer(assent, model, PROMPT)
    assert done.code == 0, done.err
    assert len(done.of_type("model.retry")) == 1 and len(done.of_type("call.requested")) == 1
    assert (assent.folder / "made.txt").exists()


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_call_that_is_cut_every_time_never_runs(tmp_path: Path, llama: LlamaServer, model: str) -> None:
    with FailingProxy(llama.url, MARK, "cut", times=ALWAYS) as proxy:
        assent = program(tmp_path, environment(model, proxy.url))
        done = run(assent, model, PROMPT, "--approval-mode", "yolo")
    assert done.code == 1
    assert_nothing_ran(done, assent.folder)
    assert "in the middle of the reply" in done.result["error"]["message"]


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_reply_that_stops_coming_can_be_interrupted_and_none_of_it_runs(
    tmp_path: Path, llama: LlamaServer, model: str
) -> None:
    with FailingProxy(llama.url, MARK, "stall") as proxy:
        assent = program(tmp_path, environment(model, proxy.url))
        with start(assent, model, PROMPT, "--approval-mode", "yolo") as running:
            assert proxy.broken.wait(600)
            running.signal(signal.SIGINT)
            done = running.wait()
    assert done.code == 130
    assert_nothing_ran(done, assent.folder)


@pytest.mark.parametrize("model", ENVIRONMENTS)
def test_a_server_that_is_killed_in_the_middle_is_told_in_one_sentence(tmp_path: Path, model: str) -> None:
    with LlamaServer() as llama, FailingProxy(llama.url, MARK, "kill", kill=llama.kill) as proxy:
        assent = program(tmp_path, environment(model, proxy.url))
        done = run(assent, model, PROMPT, "--approval-mode", "yolo")
    assert done.code == 1
    assert_nothing_ran(done, assent.folder)
    message = done.result["error"]["message"]
    assert "127.0.0.1" in message and "\n" not in message.strip()


def test_a_model_file_whose_process_is_killed_is_loaded_again(tmp_path: Path) -> None:
    assent = program(tmp_path, {})
    with start(assent, GGUF, READ) as running:
        running.until_type("call.finished")
        kill_model_process(running.process.pid)
        done = running.wait()
    assert done.code == 0, done.err
    assert len(done.of_type("call.finished")) == 1 and done.result["response"].strip()


def kill_model_process(ancestor: int) -> None:
    """Of the processes that the program has started, the one that runs the model."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"gguf_server" in words and ancestor in ancestors(int(process.name)):
            return os.kill(int(process.name), signal.SIGKILL)
    raise AssertionError("there is no process that runs the model")


def ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        yield pid
