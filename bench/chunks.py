"""A reply of 20,000 small chunks in each wire format: CPU for each above a run with one, against the minimal client."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bench.measure import Sample, interleaved
from bench.provider import FORMATS, SHORT_REPLY, Provider
from bench.report import Row

RATIO = 1.6
CHUNKS = 20_000
LONG: dict[str, Any] = {"replies": [{"chunks": [{"text": "word{i} ", "repeat": CHUNKS}]}]}


def measure(quick: bool) -> Iterator[Row]:
    runs = 3 if quick else 9
    for name in FORMATS:
        with Provider(name) as provider:
            medians = _medians(provider, runs, ("json",) if name == "gemini" else ())
        for output in ("text", "json"):
            if output in medians:
                yield Row(f"a chunk, {name}, {output}", medians[output], "µs", medians["floor"], RATIO)
    with Provider() as provider:
        medians = _medians(provider, runs, ("stream-json",))
    yield Row("a chunk, stream-json (a line each)", medians["stream-json"], "µs", medians["floor"])


def _medians(provider: Provider, runs: int, outputs: tuple[str, ...]) -> dict[str, float]:
    programs: dict[str, Callable[[dict[str, Any]], Sample]] = {
        "floor": provider.text_floor,
        "text": provider.assent,
        **{output: partial(_with_output, provider, output) for output in outputs},
    }
    return interleaved({name: partial(_cpu_per_chunk, program) for name, program in programs.items()}, runs)


def _with_output(provider: Provider, output: str, scenario: dict[str, Any]) -> Sample:
    return provider.assent(scenario, "-o", output)


def _cpu_per_chunk(program: Callable[[dict[str, Any]], Sample]) -> float:
    """Microseconds; the start of the program is in both runs and cancels out."""
    return (program(LONG).cpu - program(SHORT_REPLY).cpu) / CHUNKS * 1e6
