"""Which signals to export, according to the standard variables."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Signal = Literal["traces", "metrics", "logs"]
SIGNALS: tuple[Signal, ...] = ("traces", "metrics", "logs")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_DEFAULT_PROTOCOL = "http/protobuf"
_PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


class Content(Struct, frozen=True):
    """Where prompts, replies, arguments and results may be exported."""

    spans: bool = False
    events: bool = False


class Wanted(Struct, frozen=True):
    exporters: tuple[tuple[Signal, tuple[str, ...]], ...]
    """The names under which packages register their exporters; signals without any are left out."""
    content: Content = Content()


def wanted(env: Mapping[str, str]) -> Wanted | None:
    """None: export nothing. Unlike in the specification, a signal without an exporter or an endpoint is off."""
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    found: list[tuple[Signal, tuple[str, ...]]] = [(signal, _exporters(env, signal)) for signal in SIGNALS]
    exported = tuple(each for each in found if each[1])
    return Wanted(exported, _content(env)) if exported else None


def _exporters(env: Mapping[str, str], signal: Signal) -> tuple[str, ...]:
    named = env.get(f"OTEL_{signal.upper()}_EXPORTER", "")
    names = [name.strip() for name in named.split(",") if name.strip()]
    if not names and _has_endpoint(env, signal):
        names = ["otlp"]
    return tuple(_registered(env, signal, name) for name in names if name != "none")


def _has_endpoint(env: Mapping[str, str], signal: Signal) -> bool:
    return bool(env.get("OTEL_EXPORTER_OTLP_ENDPOINT") or env.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT"))


def _registered(env: Mapping[str, str], signal: Signal, name: str) -> str:
    if name != "otlp":
        return name
    own = env.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "").strip()
    protocol = own or env.get("OTEL_EXPORTER_OTLP_PROTOCOL", "").strip() or _DEFAULT_PROTOCOL
    return _PROTOCOLS.get(protocol, protocol)


def _content(env: Mapping[str, str]) -> Content:
    """Anything unknown means no."""
    match env.get(CONTENT, "").strip().lower():
        case "span_and_event" | "true":
            return Content(spans=True, events=True)
        case "span_only":
            return Content(spans=True)
        case "event_only":
            return Content(events=True)
        case _:
            return Content()
