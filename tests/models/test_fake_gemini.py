"""The fake as a program, as the end-to-end tests and the benchmarks start it."""

import json
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

FAKE = Path(__file__).parents[1] / "support" / "fake_gemini.py"


def call(url: str, body: object = None) -> bytes:
    data = json.dumps(body).encode() if body is not None else None
    with urlopen(Request(url, data)) as response:
        return response.read()


def test_the_program_plays_a_file_keeps_a_log_and_takes_a_new_scenario(tmp_path: Path) -> None:
    scenario, port_file = tmp_path / "s.json", tmp_path / "port"
    scenario.write_text('{"replies": [{"chunks": [{"text": "from the file"}]}]}')
    command = [sys.executable, str(FAKE), "--scenario", str(scenario), "--port-file", str(port_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.endswith(f":{port_file.read_text()}")
            path = f"{url}/v1beta/models/g:streamGenerateContent?alt=sse"
            before = time.monotonic_ns()
            assert b"from the file" in call(path, {"contents": []})
            log = json.loads(call(f"{url}/__fake/log"))
            assert [entry["path"] for entry in log] == ["/v1beta/models/g:streamGenerateContent?alt=sse"]
            assert before < log[0]["at_ns"] < time.monotonic_ns()
            call(f"{url}/__fake/scenario", {"replies": [{"chunks": [{"text": "a new one"}]}]})
            assert json.loads(call(f"{url}/__fake/log")) == []
            assert b"a new one" in call(path, {"contents": []})
        finally:
            process.terminate()
