"""How long a test waits for something that must come, and how it waits for a condition that sets no event.

The limit does not measure speed: what works takes a fraction of it, and a busy machine may take much longer. It only
says when a test gives up and reports what did not come. It is shorter than pytest's limit for a whole test, so that the
message comes from the test.
"""

import asyncio
from collections.abc import Callable

WAIT_LIMIT = 60.0
"""Seconds."""


async def until(condition: Callable[[], object], pause: float = 0.005) -> None:
    async with asyncio.timeout(WAIT_LIMIT):
        while not condition():  # noqa: ASYNC110 (any condition, not one event)
            await asyncio.sleep(pause)
