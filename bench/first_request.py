"""From the start of the process to the first request at the provider, against the minimal client."""

from collections.abc import Callable, Iterator

from bench.measure import Sample, interleaved
from bench.provider import SHORT_REPLY, Provider
from bench.report import Row

RATIO = 2.0


def measure(quick: bool) -> Iterator[Row]:
    with Provider() as provider:

        def first_request(program: Callable[[], Sample]) -> float:
            started = program().started_ns
            return (provider.arrivals()[0] - started) / 1e6

        medians = interleaved(
            {
                "assent": lambda: first_request(lambda: provider.assent(SHORT_REPLY)),
                "floor": lambda: first_request(lambda: provider.floor(SHORT_REPLY)),
            },
            runs=5 if quick else 31,
        )
    yield Row("start to first request", medians["assent"], "ms", medians["floor"], RATIO)
