"""Garbage collection: in small steps while people wait for answers, and thoroughly when nobody does.

A collection stops everything, for longer the more was created since the last one. It knows nothing about the objects.
"""

import asyncio
import gc
from collections.abc import Callable

STEP = 2_000
"""New objects examined in one go, which takes a few milliseconds."""
MAX_STEPS = 500
"""After this many steps without a calm moment, the rest is examined anyway."""
COLLECT_INTERVAL = 5.0
"""Seconds between checks for a calm moment."""


async def collect_when_calm(
    is_calm: Callable[[], bool], ended: Callable[[], int], pause: float = COLLECT_INTERVAL
) -> None:
    """Runs until cancelled, then restores the defaults. `ended` counts what leaves garbage without creating objects."""
    before = gc.get_threshold()
    gc.freeze()  # what exists from the start stays, and need not be examined again
    gc.set_threshold(STEP, MAX_STEPS, MAX_STEPS)
    cleared = 0
    try:
        while True:
            await asyncio.sleep(pause)
            if is_calm() and (
                ended() != cleared or any(gc.get_count()[1:])
            ):  # something has ended, or a step has run, since then
                cleared = ended()
                gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
