"""One trace for each prompt, the same one whichever process exports it."""

from collections.abc import Iterable

import pytest

from assent.approval import Approval, InfoDetails
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallRequested,
    CallStarted,
    ChatCompressed,
    Envelope,
    Event,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
    SessionRenamed,
    TextDelta,
    TurnFinished,
)
from assent.otel.otel_records import LogRecord, Measurement, Record, Span
from assent.otel.otel_switch import Content
from assent.otel.turn_projection import TurnProjection
from assent.parts import Call, Failure, Result, Text, Usage
from assent.secrets.mask import Masker

NOTHING = Content()
SECRET = "correct-horse-battery-staple"
TURN: tuple[tuple[float, Event], ...] = (
    (0.0, SessionCreated(folder="/home/ann/work", model="gemini:gemini-3-pro", mode="default", version="1")),
    (10.0, PromptSubmitted("p1", f"the password is {SECRET}", "ann")),
    (10.5, TextDelta("p1", "I")),
    (
        12.0,
        ModelReplied(
            prompt_id="p1",
            model="gemini:gemini-3-pro",
            parts=(Text("I run it."), Call("c1", "run_shell_command", {"command": f"echo {SECRET}"})),
            finish="stop",
            usage=Usage(100, 20, 5, 40),
            cost=0.25,
        ),
    ),
    (
        12.0,
        CallRequested(CallRequest(call_id="c1", tool="run_shell_command", args={"command": SECRET}, prompt_id="p1")),
    ),
    (
        12.1,
        ApprovalRequested("c1", Approval(id="a1", digest="d", options=(), details=InfoDetails(SECRET), why="")),
    ),
    (72.1, ApprovalAnswered(call_id="c1", approval_id="a1", outcome="proceed_once", by="bob")),
    (72.2, CallStarted("c1", "d")),
    (
        74.2,
        CallFinished(
            call_id="c1",
            status="error",
            result=Result("c1", "run_shell_command", {"output": SECRET}),
            failure=Failure("shell_execute_error", f"exit 3 {SECRET}"),
            duration_ms=62_200,
            ran_ms=2_000,
        ),
    ),
    (75.0, ModelReplied(prompt_id="p1", model="gemini:gemini-3-pro", parts=(Text("It failed."),), finish="max_tokens")),
    (75.1, TurnFinished("p1", "completed", usage=Usage(100, 20, 5, 40))),
)


def envelopes(events: Iterable[tuple[float, Event]]) -> list[Envelope]:
    return [Envelope(seq, ts, "s1", event) for seq, (ts, event) in enumerate(events, 1)]


def projection(content: Content = NOTHING) -> TurnProjection:
    return TurnProjection("s1", content, Masker(lambda: {SECRET: "secret"}))


def export(events: Iterable[tuple[float, Event]], content: Content = NOTHING) -> list[Record]:
    made = projection(content)
    return [record for envelope in envelopes(events) for record in made.observe(envelope)]


def spans(records: Iterable[Record]) -> list[Span]:
    return [record for record in records if isinstance(record, Span)]


def measured(records: Iterable[Record]) -> list[tuple[str, float]]:
    return [(record.metric, round(record.value, 3)) for record in records if isinstance(record, Measurement)]


@pytest.mark.spec("N3")
def test_a_turn_is_a_trace_with_its_requests_questions_and_calls():
    found = spans(export(TURN))
    assert [(span.name, span.kind, span.started, span.ended, span.failed) for span in found] == [
        ("chat gemini-3-pro", "client", 10.0, 12.0, False),
        ("approval run_shell_command", "internal", 12.1, 72.1, False),
        ("execute_tool run_shell_command", "internal", 72.2, 74.2, True),
        ("chat gemini-3-pro", "client", 74.2, 75.0, False),
        ("invoke_agent assent", "internal", 10.0, 75.1, False),
    ]
    *inner, agent = found
    assert agent.parent is None and all(span.parent == agent.place for span in inner)
    assert len({span.place.span_id for span in found}) == 5 and len({span.place.trace_id for span in found}) == 1
    assert agent.attributes["gen_ai.conversation.id"] == "s1"
    assert found[0].attributes == {
        "gen_ai.conversation.id": "s1",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-3-pro",
        "gen_ai.response.model": "gemini-3-pro",
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.response.time_to_first_chunk": 0.5,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 25,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "assent.cost_usd": 0.25,
    }
    assert found[2].attributes["error.type"] == "shell_execute_error"
    assert found[3].attributes["gen_ai.response.finish_reasons"] == ["length"]


@pytest.mark.spec("N3")
def test_tokens_durations_and_waits_are_measured():
    assert measured(export(TURN)) == [
        ("gen_ai.client.operation.time_to_first_chunk", 0.5),
        ("gen_ai.client.operation.duration", 2.0),
        ("gen_ai.client.token.usage", 100),
        ("gen_ai.client.token.usage", 25),
        ("assent.approval.duration", 60.0),
        ("gen_ai.execute_tool.duration", 2.0),
        ("gen_ai.client.operation.duration", 0.8),
        ("gen_ai.invoke_agent.duration", 65.1),
    ]


def test_who_answered_is_a_log_record_in_the_place_of_the_call():
    logs = [record for record in export(TURN) if isinstance(record, LogRecord)]
    assert [record.event for record in logs] == ["assent.approval.requested", "assent.approval.answered"]
    assert (logs[1].attributes["assent.approval.by"], logs[1].attributes["assent.approval.outcome"]) == (
        "bob",
        "proceed_once",
    )
    assert logs[1].place == spans(export(TURN))[2].place


@pytest.mark.spec("N3")
def test_prompts_arguments_results_and_failures_stay_here_unless_they_are_allowed():
    plain = repr(export(TURN))
    for said in (SECRET, "password", "I run it", "echo", "exit 3", "/home/ann"):
        assert said not in plain


@pytest.mark.spec("N3")
def test_allowed_content_goes_where_it_is_allowed_and_secrets_are_masked():
    in_spans, in_events = export(TURN, Content(spans=True)), export(TURN, Content(events=True))
    chat, _, tool, second, agent = spans(in_spans)
    assert "the password is" in str(chat.attributes["gen_ai.input.messages"])
    assert "I run it." in str(chat.attributes["gen_ai.output.messages"])
    assert {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} <= set(tool.attributes)
    assert "tool_call_response" in str(second.attributes["gen_ai.input.messages"])
    assert "the password is" in str(agent.attributes["gen_ai.input.messages"])
    assert "the password is" not in repr(spans(in_events))
    details = [record for record in in_events if isinstance(record, LogRecord) and "details" in record.event]
    assert "the password is" in str(details[0].attributes["gen_ai.input.messages"])
    assert SECRET not in repr(in_spans) and SECRET not in repr(in_events)


def test_another_process_continues_the_trace():
    whole = export(TURN)
    later = projection()
    for envelope in envelopes(TURN)[:6]:
        list(later.observe(envelope))  # it reads the past after a crash in the middle of the question
    continued = [record for envelope in envelopes(TURN)[6:] for record in later.observe(envelope)]
    assert continued == whole[-len(continued) :]
    assert [span.name.split()[0] for span in spans(continued)] == ["approval", "execute_tool", "chat", "invoke_agent"]


def test_a_request_that_failed_is_a_failed_span_and_an_exception():
    failed = (*TURN[:2], (11.0, TurnFinished("p1", "failed", Failure("quota", "used up"))))
    chat, agent = spans(export(failed))
    assert (chat.name, chat.failed, chat.attributes["error.type"], chat.started) == (
        "chat gemini-3-pro",
        True,
        "quota",
        10.0,
    )
    assert (agent.failed, agent.reason, agent.attributes["assent.turn.status"]) == (True, "used up", "failed")
    (exception,) = [record for record in export(failed) if isinstance(record, LogRecord)]
    assert (exception.event, exception.level) == ("gen_ai.client.operation.exception", "error")


def test_a_call_of_no_prompt_is_a_trace_of_its_own():
    request = CallRequest(call_id="c9", tool="run_shell_command", args={}, prompt_id="", initiator="person")
    done = CallFinished(call_id="c9", status="success", result=Result("c9", "x", {}), ran_ms=5)
    (span,) = spans(export([(1.0, CallRequested(request)), (1.1, CallStarted("c9", "d")), (1.2, done)]))
    assert span.parent is None and not span.failed


def test_the_name_of_a_tool_that_does_not_exist_is_the_models_text_and_stays_here():
    request = CallRequest(call_id="c1", tool=f"tell {SECRET}", args={}, prompt_id="p1")
    failure = Failure("tool_not_registered", "there is no such tool")
    done = CallFinished(call_id="c1", status="error", result=Result("c1", "x", {}), failure=failure)
    records = export([*TURN[:2], (11.0, CallRequested(request)), (11.0, done)])
    assert [span.name for span in spans(records)] == ["execute_tool _OTHER"] and SECRET not in repr(records)
    assert measured(records) == []


def test_summaries_and_titles_count_as_tokens():
    summary = ChatCompressed(
        prompt_id="p1",
        replaced=2,
        summary="s",
        tokens_before=9,
        tokens_after=1,
        usage=Usage(7, 3),
        model="gemini:flash",
    )
    records = export([*TURN[:2], (11.0, summary), (12.0, SessionRenamed("t", "", "gemini:flash", Usage(2, 1)))])
    assert [value for name, value in measured(records) if name == "gen_ai.client.token.usage"] == [7, 3, 2, 1]
    assert [span.name for span in spans(records)] == ["chat flash"]


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("vertex:gemini-3-pro", "gcp.vertex_ai", "gemini-3-pro"),
        ("claude-opus-5-5", "anthropic", "claude-opus-5-5"),
        ("gguf:/home/ann/models/small.gguf", "gguf", "small.gguf"),
        ("corporate:some/model", "corporate", "some/model"),
        ("nameless", "_OTHER", "nameless"),
    ],
)
def test_models_are_named_as_the_conventions_say(model: str, provider: str, name: str):
    reply = ModelReplied(prompt_id="p1", model=model, parts=(Text("x"),), finish="stop")
    (span,) = spans(export([*TURN[:2], (11.0, reply)]))
    assert (span.attributes["gen_ai.provider.name"], span.attributes["gen_ai.request.model"]) == (provider, name)


def test_a_clock_that_was_set_back_makes_no_negative_duration():
    records = export([*TURN[:2], (5.0, ModelReplied(prompt_id="p1", model="m", parts=(), finish="stop"))])
    assert all(value >= 0 for _, value in measured(records))
