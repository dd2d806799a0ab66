"""Metrics for Prometheus, in its text format (version 0.0.4)."""

import math
import os
import platform
import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from assent import __version__
from assent.front.web.histograms import Histogram

MEDIA_TYPE = "text/plain; version=0.0.4"
"""The framework adds the character set."""
_STARTED = time.time()
Labels = Mapping[str, str]


class Sample(Struct, frozen=True):
    suffix: str
    labels: Labels
    value: float


class Metric(Struct, frozen=True, kw_only=True):
    name: str
    about: str
    kind: Literal["counter", "gauge", "histogram"]
    samples: tuple[Sample, ...]


def gauge(name: str, about: str, value: float) -> Metric:
    return Metric(name=name, about=about, kind="gauge", samples=(Sample("", {}, value),))


def counter(name: str, about: str, value: float) -> Metric:
    return Metric(name=name, about=about, kind="counter", samples=(Sample("", {}, value),))


def counters(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    samples = tuple(Sample("", {label: key}, value) for key, value in sorted(values.items()))
    return Metric(name=name, about=about, kind="counter", samples=samples)


def histograms(name: str, about: str, label: str, values: Mapping[str, Histogram]) -> Metric:
    samples = [sample for key, value in sorted(values.items()) for sample in _samples({label: key}, value)]
    return Metric(name=name, about=about, kind="histogram", samples=tuple(samples))


def _samples(labels: Labels, histogram: Histogram) -> Iterator[Sample]:
    for bound, count in histogram.buckets():
        yield Sample("_bucket", {**labels, "le": bound}, count)
    yield Sample("_sum", labels, histogram.sum)
    yield Sample("_count", labels, histogram.count)


# --- the text ---


def exposition(metrics: Iterable[Metric]) -> bytes:
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric)).encode()


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.about}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in metric.samples:
        yield f"{metric.name}{sample.suffix}{_labels(sample.labels)} {_number(sample.value)}"


def _labels(labels: Labels) -> str:
    pairs = [f'{name}="{_escaped(value)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    """With all digits: rounded, a counter above a million would seem to stand still."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))


# --- the process ---


def process_metrics() -> list[Metric]:
    """Under their usual names."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    build = {"version": __version__, "python": platform.python_version()}
    return [
        counter("process_cpu_seconds_total", "CPU time used.", used.ru_utime + used.ru_stime),
        gauge("process_start_time_seconds", "When the server started.", _STARTED),
        gauge("process_max_resident_memory_bytes", "Peak resident memory.", used.ru_maxrss * 1024),
        gauge("process_open_fds", "Open file descriptors.", _open_files()),
        Metric(
            name="assent_build_info",
            about="The version; always 1.",
            kind="gauge",
            samples=(Sample("", build, 1.0),),
        ),
    ]


def _open_files() -> float:
    try:
        return len(os.listdir("/proc/self/fd")) - 1.0  # one of them is this list
    except OSError:
        return math.nan
