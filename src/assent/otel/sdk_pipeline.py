"""Hands records to the OpenTelemetry SDK. The only module that imports it; the extra `assent[otel]` installs it.

The providers are Assent's own, not the global ones: only what `turn_projection.py` produces is exported, not what
libraries in this process may report. The SDK and its variables control batching, limits, sampling, resource and
endpoints. The SDK sends in its own threads, so a slow or missing collector delays nobody.
"""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any
from uuid import uuid4

from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from assent import __version__
from assent.otel.otel_records import METRICS, LogRecord, Measurement, Place, Record, Span
from assent.otel.otel_switch import Signal, Wanted

SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
EXIT_SECONDS = 2.0
"""How long the process waits for the last export when it ends, unless `OTEL_EXPORTER_OTLP_TIMEOUT` is set."""
_SCOPE = "assent"
_SEVERITY = {"info": SeverityNumber.INFO, "warning": SeverityNumber.WARN, "error": SeverityNumber.ERROR}
_KIND = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}


class NoExporter(ValueError):
    """No installed package has the exporter that a variable names."""


class _GivenIds(IdGenerator):
    """Returns the ids of the span that is being recorded. Records come from one thread."""

    def __init__(self) -> None:
        self.place = Place("", "")

    def generate_trace_id(self) -> int:
        return self.place.trace_id

    def generate_span_id(self) -> int:
        return self.place.span_id


class Providers:
    """With a processor or reader for each signal that is exported."""

    def __init__(self, readers: Sequence[MetricReader] = ()) -> None:
        resource = _resource()
        self.ids = _GivenIds()
        self.traces = TracerProvider(resource=resource, id_generator=self.ids, shutdown_on_exit=False)
        self.metrics = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
        self.logs = LoggerProvider(resource=resource, shutdown_on_exit=False)

    def close(self) -> None:
        """Sends what is waiting. If the collector cannot be reached, this can take half a minute."""
        self.traces.shutdown()
        self.logs.shutdown()
        self.metrics.shutdown()

    def close_at_exit(self) -> None:
        """Nobody waits for a collector that cannot be reached. The thread starts now, because none can start during
        exit."""
        ending = threading.Event()
        closer = threading.Thread(target=lambda: (ending.wait(), self.close()), name="telemetry", daemon=True)
        closer.start()
        atexit.register(lambda: (ending.set(), closer.join(_exit_seconds())))


def _resource() -> Resource:
    """The variables take precedence. Processes with the same name need different instances, or their sums would mix."""
    ours = {"service.name": "assent", "service.version": __version__, "service.instance.id": str(uuid4())}
    return Resource.create().merge(Resource(ours)).merge(OTELResourceDetector().detect())


class SdkPipeline:
    def __init__(self, providers: Providers) -> None:
        self.providers = providers
        self._tracer = providers.traces.get_tracer(_SCOPE, __version__, schema_url=SCHEMA)
        self._logger = providers.logs.get_logger(_SCOPE, __version__, schema_url=SCHEMA)
        meter = providers.metrics.get_meter(_SCOPE, __version__, schema_url=SCHEMA)
        self._histograms = {
            metric.name: meter.create_histogram(
                metric.name, metric.unit, metric.about, explicit_bucket_boundaries_advisory=metric.bounds
            )
            for metric in METRICS
        }

    def emit(self, record: Record) -> None:
        match record:
            case Span():
                self._span(record)
            case Measurement(metric=metric, value=value, attributes=attributes):
                self._histograms[metric].record(value, attributes)
            case LogRecord():
                self._log(record)

    def _span(self, record: Span) -> None:
        self.providers.ids.place = record.place
        parent = Context() if record.parent is None else self._context(record.parent)
        started = _nanoseconds(record.started)
        span = self._tracer.start_span(record.name, parent, _KIND[record.kind], record.attributes, start_time=started)
        if record.failed:
            span.set_status(StatusCode.ERROR, record.reason or None)
        span.end(max(started, _nanoseconds(record.ended)))

    def _log(self, record: LogRecord) -> None:
        self._logger.emit(
            timestamp=_nanoseconds(record.ts),
            context=self._context(record.place),
            severity_number=_SEVERITY[record.level],
            severity_text=record.level.upper(),
            attributes=record.attributes,
            event_name=record.event,
        )

    def _context(self, place: Place) -> Context:
        """The sampler decides by the trace alone, so that it decides the same for each span of it."""
        decision = self.providers.traces.sampler.should_sample(None, place.trace_id, place.span).decision
        flags = TraceFlags(TraceFlags.SAMPLED if decision.is_sampled() else TraceFlags.DEFAULT)
        return set_span_in_context(
            NonRecordingSpan(SpanContext(place.trace_id, place.span_id, is_remote=False, trace_flags=flags)), Context()
        )


def open_pipeline(wanted: Wanted) -> SdkPipeline:
    """Raises NoExporter."""
    found: dict[Signal, list[Any]] = {
        signal: [_exporter(signal, name) for name in names] for signal, names in wanted.exporters
    }
    readers = [
        made if isinstance(made, MetricReader) else PeriodicExportingMetricReader(made)
        for made in found.get("metrics", ())
    ]
    providers = Providers(readers)
    for exporter in found.get("traces", ()):
        providers.traces.add_span_processor(BatchSpanProcessor(exporter))
    for exporter in found.get("logs", ()):
        providers.logs.add_log_record_processor(BatchLogRecordProcessor(exporter))
    providers.close_at_exit()
    return SdkPipeline(providers)


def _exporter(signal: Signal, name: str) -> Any:
    for entry in entry_points(group=f"opentelemetry_{signal}_exporter", name=name):
        made: Callable[[], Any] = entry.load()
        return made()
    raise NoExporter(f"OpenTelemetry: no installed package has the exporter {name!r} for {signal}")


def keep_off_the_screen() -> None:
    """The SDK reports failed exports to `logging`, which would print them into the terminal UI."""
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())


def _exit_seconds() -> float:
    try:
        return float(os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"])
    except (KeyError, ValueError):
        return EXIT_SECONDS


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
