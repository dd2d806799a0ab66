"""30 rounds of one shell call (yolo): the cost of each round above a run without any, against the minimal client.

Assent commits five times per round to disk, each synced, and runs the command in a terminal; the floor does neither.
"""

from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Sample, interleaved
from bench.provider import SHORT_REPLY, Provider, shell_rounds
from bench.report import Row

ROUNDS = 30


def measure(quick: bool) -> Iterator[Row]:
    with Provider() as provider:

        def with_assent(scenario: dict[str, Any]) -> Sample:
            return provider.assent(scenario, "--approval-mode", "yolo")

        medians = interleaved(
            {
                "assent": lambda: _per_round(with_assent, _wall),
                "floor": lambda: _per_round(provider.floor, _wall),
                "assent cpu": lambda: _per_round(with_assent, _cpu),
                "floor cpu": lambda: _per_round(provider.floor, _cpu),
            },
            runs=3 if quick else 9,
        )
    yield Row("a round, wall time", medians["assent"], "ms", medians["floor"])
    yield Row("a round, CPU", medians["assent cpu"], "ms", medians["floor cpu"])


def _wall(sample: Sample) -> float:
    return sample.seconds


def _cpu(sample: Sample) -> float:
    return sample.cpu


def _per_round(program: Callable[[dict[str, Any]], Sample], figure: Callable[[Sample], float]) -> float:
    """Milliseconds: the start, the first reply and the end are in both runs and cancel out."""
    return (figure(program(shell_rounds(ROUNDS))) - figure(program(SHORT_REPLY))) / ROUNDS * 1000
