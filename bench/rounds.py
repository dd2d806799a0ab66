"""30 rounds of one shell call (yolo): what each round costs above a run without any, against the minimal client.

Assent commits six times a round to disk, each synced, and runs the command in a terminal; the floor does neither.
"""

from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Sample, interleaved
from bench.provider import SHORT, Provider, shell_rounds
from bench.report import Row

ROUNDS = 30


def measure(quick: bool) -> Iterator[Row]:
    with Provider() as provider:

        def with_assent(scenario: dict[str, Any]) -> Sample:
            return provider.assent(scenario, "--approval-mode", "yolo")

        programs: dict[str, Callable[[dict[str, Any]], Sample]] = {"assent": with_assent, "floor": provider.floor}
        walls = {name: lambda run=run: _per_round(run, lambda sample: sample.seconds) for name, run in programs.items()}
        cpus = {f"{name} cpu": lambda run=run: _per_round(run, lambda s: s.cpu) for name, run in programs.items()}
        medians = interleaved(walls | cpus, runs=3 if quick else 9)
    yield Row("a round, wall time", medians["assent"], "ms", medians["floor"])
    yield Row("a round, CPU", medians["assent cpu"], "ms", medians["floor cpu"])


def _per_round(program: Callable[[dict[str, Any]], Sample], figure: Callable[[Sample], float]) -> float:
    """Milliseconds: the start, the first reply and the end are in both runs and cancel out."""
    return (figure(program(shell_rounds(ROUNDS))) - figure(program(SHORT))) / ROUNDS * 1000
