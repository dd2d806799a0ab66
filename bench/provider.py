"""The fake provider as its own process, and the two programs that talk to it: Assent and the floor."""

import http.client
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from bench.measure import FLOOR, Sample, assent, run

FAKE = Path(__file__).parent.parent / "tests" / "support" / "fake_gemini.py"
MODEL = "gemini-2.5-flash"
SHORT_REPLY = {"replies": [{"chunks": [{"text": "Hello."}]}]}


class Provider:
    """A running fake, with an empty workspace and a data folder for its clients."""

    def __enter__(self) -> Self:
        self._server = subprocess.Popen([sys.executable, str(FAKE)], stdout=subprocess.PIPE, text=True)
        assert self._server.stdout is not None
        self._url = self._server.stdout.readline().strip()
        self._scratch = tempfile.TemporaryDirectory(prefix="assent-bench-")
        self._home, self._workspace = Path(self._scratch.name, "home"), Path(self._scratch.name, "work")
        self._workspace.mkdir()
        self._env = {
            "GEMINI_API_KEY": "bench",
            "GOOGLE_GEMINI_BASE_URL": self._url,
            "ASSENT_HOME": str(self._home),
        }
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.terminate()
        self._server.communicate()
        self._scratch.cleanup()

    def assent(self, scenario: dict[str, Any], *flags: str) -> Sample:
        return self._run(scenario, [*assent(), "-p", "hi", "--model", MODEL, *flags])

    def floor(self, scenario: dict[str, Any]) -> Sample:
        return self._run(scenario, [*FLOOR, "hi"])

    def arrivals(self) -> list[int]:
        """When the requests of the newest run arrived, in `time.monotonic_ns()`."""
        return [request["at_ns"] for request in self._ask("GET", "/__fake/log")]

    def _run(self, scenario: dict[str, Any], argv: list[str]) -> Sample:
        self._ask("POST", "/__fake/scenario", scenario)
        return run(argv, self._env, self._workspace)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self._url.removeprefix("http://"))
        connection.request(method, path, None if body is None else msgspec.json.encode(body))
        answer = msgspec.json.decode(connection.getresponse().read())
        connection.close()
        return answer


def shell_rounds(count: int, command: str = "echo {n}") -> dict[str, Any]:
    """A reply with one shell call, that many times, then a short answer."""
    call = {"name": "run_shell_command", "args": {"command": command}}
    return {"replies": [{"chunks": [{"call": call}], "repeat": count}, *SHORT_REPLY["replies"]]}
