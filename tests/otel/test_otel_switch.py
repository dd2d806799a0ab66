"""Off by default; the standard variables say what is exported, and where to."""

import pytest

from assent.otel.otel_switch import Content, wanted

HTTP, GRPC = ("otlp_proto_http",), ("otlp_proto_grpc",)
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
pytestmark = pytest.mark.spec("N3")


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "a=b"},
        ENDPOINT | {"OTEL_SDK_DISABLED": "true"},
        ENDPOINT | {"OTEL_SDK_DISABLED": " TRUE "},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        ENDPOINT | dict.fromkeys(("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"), "none"),
    ],
)
def test_nothing_is_exported_unless_a_variable_asks_for_it(env: dict[str, str]):
    assert wanted(env) is None


@pytest.mark.parametrize(
    ("env", "exporters"),
    [
        (ENDPOINT, {"traces": HTTP, "metrics": HTTP, "logs": HTTP}),
        (ENDPOINT | {"OTEL_METRICS_EXPORTER": "none"}, {"traces": HTTP, "logs": HTTP}),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, {"traces": ("console", *HTTP)}),
        ({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://127.0.0.1:1/v1/logs"}, {"logs": HTTP}),
        (
            ENDPOINT | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf"},
            {"traces": GRPC, "metrics": GRPC, "logs": HTTP},
        ),
        (ENDPOINT | {"OTEL_SDK_DISABLED": "false"}, {"traces": HTTP, "metrics": HTTP, "logs": HTTP}),
    ],
)
def test_variables_choose_signals_exporters_and_protocols(env: dict[str, str], exporters: dict[str, tuple[str, ...]]):
    found = wanted(env)
    assert found is not None and dict(found.exporters) == exporters


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("", Content()),
        ("NO_CONTENT", Content()),
        ("false", Content()),
        ("everything", Content()),
        ("SPAN_ONLY", Content(spans=True)),
        ("event_only", Content(events=True)),
        ("SPAN_AND_EVENT", Content(spans=True, events=True)),
        ("true", Content(spans=True, events=True)),
    ],
)
def test_content_is_exported_only_where_it_is_allowed(said: str, content: Content):
    found = wanted(ENDPOINT | {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": said})
    assert found is not None and found.content == content
