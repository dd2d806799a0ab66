"""LiteLLM's proxy in front of llama.cpp: a gateway that we did not write. It speaks all four wire formats.

`make integration` installs it into an environment of its own.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

from support.llama_server import KEY, NAME, LlamaServer, wait_for

PROGRAM = Path(sys.prefix) / "gateway" / "bin" / "litellm"
NOWHERE = "http://127.0.0.1:9"
SETTINGS = {"num_retries": 0, "drop_params": True, "telemetry": False}
FAILURES = {
    "mock-429": "litellm.RateLimitError",
    "mock-500": "litellm.InternalServerError",
    "mock-context": "litellm.ContextWindowExceededError",
    "mock-midstream-error": "Exception: mock_streaming_error",
}
"""Models that fail in one way each."""


class Gateway:
    """`base` is for its files."""

    def __init__(self, llama: LlamaServer, base: Path) -> None:
        assert PROGRAM.exists(), "run it with: make integration"
        config, port = base / "gateway.json", _free_port()
        config.write_text(json.dumps(_config(llama.url)))
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [PROGRAM, "--config", config, "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"],
            env=_environment(base),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(f"{self.url}/health/liveliness")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def _config(llama: str) -> dict[str, object]:
    """Whatever the client speaks, LiteLLM speaks chat completions to llama.cpp."""
    real = {"model": f"hosted_vllm/{NAME}", "api_base": f"{llama}/v1", "api_key": KEY}
    models = {NAME: real, "dead": {"model": f"hosted_vllm/{NAME}", "api_base": f"{NOWHERE}/v1", "api_key": KEY}}
    for name, said in FAILURES.items():
        models[name] = {"model": "openai/mock", "api_base": f"{NOWHERE}/v1", "api_key": KEY, "mock_response": said}
    return {
        "model_list": [{"model_name": name, "litellm_params": params} for name, params in models.items()],
        "litellm_settings": SETTINGS,
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }


def _environment(base: Path) -> dict[str, str]:
    """A proxy that is not there: whatever would leave the machine fails at once instead."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(base),
        "NO_PROXY": "127.0.0.1,localhost",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DISABLE_ADMIN_UI": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    } | proxies


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]
