"""A fake provider as its own process, and the programs that talk to it: Assent and the floor."""

import http.client
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from bench.measure import FLOOR, SOURCE, TEXT_FLOOR, Sample, assent, run

TESTS = Path(__file__).parent.parent / "tests"
SHORT_REPLY = {"replies": [{"chunks": [{"text": "Hello."}]}]}


class WireFormat(NamedTuple):
    """Who speaks it."""

    model: str
    key_variable: str
    url_variable: str

    def env(self, url: str) -> dict[str, str]:
        return {self.key_variable: "bench", self.url_variable: url}


FORMATS = {
    "gemini": WireFormat("gemini-2.5-flash", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "messages": WireFormat("claude-opus-5-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "responses": WireFormat("gpt-6.1-sol", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "chat": WireFormat("deepseek-v4-pro", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
}


class Provider:
    """A running fake, with an empty workspace and a data folder for its clients."""

    def __init__(self, wire_format: str = "gemini") -> None:
        self._name = wire_format
        self._format = FORMATS[wire_format]

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "support.wire_formats", self._name],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join((*SOURCE.values(), str(TESTS)))},
        )
        assert self._server.stdout is not None
        self.url = self._server.stdout.readline().strip()
        self._scratch = tempfile.TemporaryDirectory(prefix="assent-bench-")
        self._home, self._workspace = Path(self._scratch.name, "home"), Path(self._scratch.name, "work")
        self._workspace.mkdir()
        self._env = {"ASSENT_HOME": str(self._home), "FLOOR_URL": self.url, **self._format.env(self.url)}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.terminate()
        self._server.communicate()
        self._scratch.cleanup()

    def assent(self, scenario: dict[str, Any], *flags: str) -> Sample:
        return self._run(scenario, [*assent(), "-p", "hi", "--model", self._format.model, *flags])

    def assent_as(self, model: str, env: dict[str, str], scenario: dict[str, Any]) -> Sample:
        """Another model that speaks the same format."""
        return self._run(scenario, [*assent(), "-p", "hi", "--model", model], env)

    def floor(self, scenario: dict[str, Any]) -> Sample:
        """It runs shell calls, in Gemini's format alone."""
        return self._run(scenario, [*FLOOR, "hi"])

    def text_floor(self, scenario: dict[str, Any]) -> Sample:
        return self._run(scenario, [*TEXT_FLOOR, self._name, "hi"])

    def arrivals(self) -> list[int]:
        """When the prompts of the newest run arrived, in `time.monotonic_ns()`."""
        return [request["at_ns"] for request in self._ask("GET", "/__fake/log") if request["method"] == "POST"]

    def play(self, scenario: dict[str, Any]) -> None:
        self._ask("POST", "/__fake/scenario", scenario)

    def _run(self, scenario: dict[str, Any], argv: list[str], env: dict[str, str] | None = None) -> Sample:
        self.play(scenario)
        return run(argv, self._env | (env or {}), self._workspace)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"))
        connection.request(method, path, None if body is None else msgspec.json.encode(body))
        answer = msgspec.json.decode(connection.getresponse().read())
        connection.close()
        return answer


def shell_rounds(count: int, command: str = "echo {n}") -> dict[str, Any]:
    """A reply with one shell call, that many times, then a short answer."""
    call = {"name": "run_shell_command", "args": {"command": command}}
    return {"replies": [{"chunks": [{"call": call}], "repeat": count}, *SHORT_REPLY["replies"]]}
