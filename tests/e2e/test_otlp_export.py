"""From the program to a collector, over the wire."""

import asyncio
import signal
import sys

import pytest

from support.otlp_receiver import OtlpReceiver, attributes
from support.program import Program, asks_for, read, says, shell
from support.served import ServedProgram, until_event, until_waiting
from support.waiting import WAIT_LIMIT

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
pytestmark = pytest.mark.spec("N3")


@pytest.fixture
def model(program: Program) -> str:
    (program.folder / "a.txt").write_text("the contents\n")
    usage = {"input": 10, "output": 5}
    return program.scenario(asks_for(read("a.txt"), shell("touch x"), usage=usage), says("Done.", usage=usage))


def test_traces_metrics_and_logs_arrive(program: Program, model: str):
    with OtlpReceiver() as receiver:
        more = {"OTEL_EXPORTER_OTLP_HEADERS": "x-team=blue", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test"}
        ended = program.run("-p", "a private prompt", "-m", model, env=receiver.env | more | {CONTENT: "event_only"})
    assert (ended.code, ended.out) == (0, "Done.\n")
    spans = receiver.spans
    by_name = {span.name: span for span in spans}
    assert sorted(span.name for span in spans) == [
        "chat scenario.json",
        "chat scenario.json",
        "execute_tool read_file",
        "execute_tool run_shell_command",
        "invoke_agent assent",
    ]
    root = by_name["invoke_agent assent"]
    assert not root.parent_span_id and len({span.trace_id for span in spans}) == 1
    assert {span.parent_span_id for span in spans if span is not root} == {root.span_id}
    assert attributes(by_name["execute_tool run_shell_command"])["error.type"] == "approval_unavailable"
    (resource,) = receiver.resources
    assert (resource["service.name"], resource["deployment.environment"]) == ("assent", "test")
    assert {name for name, _ in receiver.points} >= {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"}
    tokens = [point.sum for name, point in receiver.points if name == "gen_ai.client.token.usage"]
    assert sorted(tokens) == [10.0, 20.0]
    assert {record.event_name for record in receiver.logs} == {"gen_ai.client.inference.operation.details"}
    assert receiver.logs[0].trace_id == root.trace_id
    assert all(headers["x-team"] == "blue" for headers in receiver.headers)
    in_traces = b"".join(body for path, body in receiver.bodies if path != "/v1/logs")
    assert b"private" not in in_traces and b"the contents" not in in_traces
    assert b"a private prompt" in b"".join(body for path, body in receiver.bodies if path == "/v1/logs")


def test_a_collector_that_is_away_changes_nothing_but_the_last_moment(program: Program, model: str):
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "0.1"}
    plain, ended = (program.run("-p", "go", "-m", model, env=env) for env in ({}, away))
    assert (ended.code, ended.out) == (plain.code, plain.out) == (0, "Done.\n")
    assert "opentelemetry" not in ended.err.lower() and "Traceback" not in ended.err


def test_an_exporter_that_is_not_installed_does_not_stop_the_program(program: Program, model: str):
    ended = program.run("-p", "go", "-m", model, env={"OTEL_TRACES_EXPORTER": "carrier-pigeon"})
    assert (ended.code, ended.out) == (0, "Done.\n")


def test_without_variables_nothing_of_it_is_imported(program: Program, model: str, monkeypatch: pytest.MonkeyPatch):
    imported = (
        "import sys, runpy\n"
        "try: runpy.run_module('assent', run_name='__main__')\n"
        "finally: print([name for name in sys.modules if 'opentelemetry' in name or 'otel' in name], file=sys.stderr)"
    )

    def command(*args: str) -> list[str]:
        return [sys.executable, "-c", imported, *args]

    monkeypatch.setattr(program, "command", command)
    assert program.run("-p", "go", "-m", model).err.endswith("[]\n")
    assert "'opentelemetry" not in program.run("-p", "go", "-m", model, env={"OTEL_SDK_DISABLED": "true"}).err


def test_commands_do_not_get_the_key_of_the_collector(program: Program):
    model = program.scenario(asks_for(shell("env")), says("Done."))
    env = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic abc", "OTEL_SDK_DISABLED": "true"}
    program.run("-p", "go", "-m", model, "--approval-mode", "yolo", env=env)
    (finished,) = program.events_of_type("call.finished")
    assert "PATH=" in finished["result"]["response"]["output"]
    assert "OTEL_EXPORTER_OTLP_HEADERS" not in finished["result"]["response"]["output"]


async def test_a_turn_stays_one_trace_when_the_server_is_killed_while_its_question_waits(program: Program):
    model = program.scenario(asks_for(shell("touch made.txt")), says("Done."))
    with OtlpReceiver() as receiver:
        program.env |= receiver.env | {"OTEL_BSP_SCHEDULE_DELAY": "20"}
        server = ServedProgram(program, model)
        async with await asyncio.to_thread(server.start) as api:
            session = (await api.create(folder=str(program.folder), prompt="go"))["id"]
            (waiting,) = await until_waiting(api, session)
            while not receiver.spans:  # the first request is exported by the process that is killed now
                await api.me()
        server.kill()
        async with await asyncio.to_thread(server.start) as api:
            await api.decide(session, waiting["call_id"], "proceed_once", waiting["approval"]["digest"])
            await until_event(api, session, "turn.finished")
        assert server.running is not None
        server.running.signal(signal.SIGTERM)
        server.running.process.wait(WAIT_LIMIT)
        server.kill()  # closes what is left of it
    spans = receiver.spans
    assert [span.name.split()[0] for span in spans] == ["chat", "approval", "execute_tool", "chat", "invoke_agent"]
    assert len({span.trace_id for span in spans}) == 1 and {span.parent_span_id for span in spans[:-1]} == {
        spans[-1].span_id
    }
    assert spans[-1].start_time_unix_nano <= spans[0].start_time_unix_nano
    instances = {resource["service.instance.id"] for resource in receiver.resources}
    assert len(instances) == 2, "two processes"
    answered = [record for record in receiver.logs if record.event_name == "assent.approval.answered"]
    assert [attributes(record)["assent.approval.by"] for record in answered] == ["ann@127.0.0.1"]
