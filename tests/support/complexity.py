"""Whether work grows in proportion to its input: a ratio of CPU times in the same run, so that a slow or busy machine
changes nothing.
"""

import time
from collections.abc import Callable

TRIES = 3
"""The fastest of these counts: the others were disturbed."""
SLACK = 0.05
"""Seconds that are noise, whatever the ratio."""


def cpu_seconds(work: Callable[[], object]) -> float:
    return min(_once(work) for _ in range(TRIES))


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Eight times the input takes about eight times as long, not sixty-four times."""
    return cpu_seconds(lambda: work(size)) <= 24 * cpu_seconds(lambda: work(size // 8)) + SLACK


def _once(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
