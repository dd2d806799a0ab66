"""Garbage in cycles: looked for in small steps while people wait for answers, and thoroughly when nobody does.

A collection stops everything, the longer the more was made since the last one. It knows nothing of what is collected.
"""

import asyncio
import gc
from collections.abc import Callable

STEP = 2_000
"""So many new objects are looked at in one go, which takes a few milliseconds."""
MOST_STEPS = 500
"""After so many without a calm moment the rest is looked at all the same."""
PAUSE = 5.0
"""Seconds between two looks whether it is calm."""


async def collect_when_calm(is_calm: Callable[[], bool], ended: Callable[[], int], pause: float = PAUSE) -> None:
    """Until it is cancelled; then all is as before. `ended` counts what leaves garbage behind and makes nothing new."""
    before = gc.get_threshold()
    gc.freeze()  # what is there from the start stays, and need not be looked at again
    gc.set_threshold(STEP, MOST_STEPS, MOST_STEPS)
    cleared = 0
    try:
        while True:
            await asyncio.sleep(pause)
            if is_calm() and (ended() != cleared or any(gc.get_count()[1:])):  # something, or a step, since then
                cleared = ended()
                gc.collect()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
