"""Receives OTLP over HTTP and decodes it with the official types."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_TYPES: dict[str, type[Any]] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}


def attributes(of: Any) -> dict[str, Any]:
    """A span's, a data point's, a log record's or a resource's."""
    return {each.key: _value(each.value) for each in of.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


class OtlpReceiver:
    def __init__(self) -> None:
        self.bodies: list[tuple[str, bytes]] = []
        self.headers: list[dict[str, str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.bodies.append((self.path, body))
                receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def env(self) -> dict[str, str]:
        """The exit waits as long as a slow machine needs."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
        }

    def _received(self, path: str) -> Iterator[Any]:
        for where, body in self.bodies:
            if where == path:
                yield _TYPES[path].FromString(body)

    @property
    def resources(self) -> list[dict[str, Any]]:
        return [
            attributes(each.resource) for request in self._received("/v1/traces") for each in request.resource_spans
        ]

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self._received("/v1/traces")
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def logs(self) -> list[Any]:
        return [
            record
            for request in self._received("/v1/logs")
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    @property
    def points(self) -> list[tuple[str, Any]]:
        """Each metric's name, with its data points."""
        return [
            (metric.name, point)
            for request in self._received("/v1/metrics")
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.histogram.data_points
        ]
