"""A reply of 20,000 small chunks: CPU for each above a run with one, against the minimal client."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bench.measure import Sample, interleaved
from bench.provider import SHORT_REPLY, Provider
from bench.report import Row

RATIO = 3.0
CHUNKS = 20_000
LONG: dict[str, Any] = {"replies": [{"chunks": [{"text": "word ", "repeat": CHUNKS}]}]}


def measure(quick: bool) -> Iterator[Row]:
    with Provider() as provider:
        programs: dict[str, Callable[[dict[str, Any]], Sample]] = {
            "floor": provider.floor,
            "text": provider.assent,
            "json": lambda scenario: provider.assent(scenario, "-o", "json"),
            "stream-json": lambda scenario: provider.assent(scenario, "-o", "stream-json"),
        }
        contestants = {name: partial(_cpu_per_chunk, program) for name, program in programs.items()}
        medians = interleaved(contestants, runs=3 if quick else 9)
    for name in ("text", "json"):
        yield Row(f"a chunk, {name} into a pipe", medians[name], "µs", medians["floor"], RATIO)
    yield Row("a chunk, stream-json (a line each)", medians["stream-json"], "µs", medians["floor"])


def _cpu_per_chunk(program: Callable[[dict[str, Any]], Sample]) -> float:
    """Microseconds; the start of the program is in both runs and cancels out."""
    return (program(LONG).cpu - program(SHORT_REPLY).cpu) / CHUNKS * 1e6
