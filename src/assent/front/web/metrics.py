"""Metrics for Prometheus, in its text format."""

import resource
import time
from collections.abc import Iterator, Mapping


def exposition(gauges: Mapping[str, tuple[str, float]], answered: Mapping[int, int]) -> bytes:
    return "".join(f"{line}\n" for line in _lines(gauges, answered)).encode()


def _lines(gauges: Mapping[str, tuple[str, float]], answered: Mapping[int, int]) -> Iterator[str]:
    for name, (about, value) in gauges.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        yield f"# HELP assent_{name} {about}"
        yield f"# TYPE assent_{name} {kind}"
        yield f"assent_{name} {value:g}"
    yield "# HELP assent_responses_total Responses by status."
    yield "# TYPE assent_responses_total counter"
    for status, count in sorted(answered.items()):
        yield f'assent_responses_total{{status="{status}"}} {count}'


def process_gauges() -> dict[str, tuple[str, float]]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_seconds_total": ("CPU time used.", used.ru_utime + used.ru_stime),
        "peak_memory_bytes": ("Peak resident memory.", used.ru_maxrss * 1024),
        "time_seconds": ("The server's clock.", time.time()),
    }
