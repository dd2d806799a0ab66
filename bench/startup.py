"""`assent --version` and `--help`, against the bare interpreter (`python -c pass`)."""

from collections.abc import Iterator, Sequence
from functools import partial

from bench.measure import BARE, assent, interleaved, run
from bench.report import Row

RATIO = 3.0


def measure(quick: bool) -> Iterator[Row]:
    programs = {"bare": BARE, "--version": [*assent(), "--version"], "--help": [*assent(), "--help"]}
    medians = interleaved({name: partial(_wall, argv) for name, argv in programs.items()}, runs=5 if quick else 31)
    for flag in ("--version", "--help"):
        yield Row(f"assent {flag}", medians[flag], "ms", medians["bare"], RATIO)


def _wall(argv: Sequence[str]) -> float:
    """Milliseconds."""
    return run(argv).seconds * 1000
