"""Peak resident memory: one short reply, and one command that prints 20 MB."""

from collections.abc import Callable, Iterator
from functools import partial

from bench.measure import Sample, interleaved
from bench.provider import SHORT_REPLY, Provider, shell_rounds
from bench.report import Row

MEGABYTES = 60.0
FLOOD = shell_rounds(1, "yes 'a line of output, again and again' | head -c 20000000")


def measure(quick: bool) -> Iterator[Row]:
    with Provider() as provider:
        programs: dict[str, Callable[[], Sample]] = {
            "one short reply": lambda: provider.assent(SHORT_REPLY),
            "a command that prints 20 MB": lambda: provider.assent(FLOOD, "--approval-mode", "yolo"),
            "the minimal client, one short reply": lambda: provider.floor(SHORT_REPLY),
            "the minimal client, 20 MB": lambda: provider.floor(FLOOD),
        }
        contestants = {name: partial(_peak, program) for name, program in programs.items()}
        medians = interleaved(contestants, runs=2 if quick else 5)
    for name, peak in medians.items():
        yield Row(name, peak, "MB", most=None if "minimal" in name else MEGABYTES)


def _peak(program: Callable[[], Sample]) -> float:
    return program().megabytes
