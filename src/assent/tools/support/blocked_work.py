"""Work that may block forever on an ignore file that is a pipe: it is cancelled, and the caller has to do it another
way.
"""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from assent.process.blocking import CHECK_AFTER, blocking_file

Answer = TypeVar("Answer")


async def unless_stuck(work: Coroutine[None, None, Answer], start: str) -> Answer | None:
    """The result of the work. None if it takes long and a file in or above `start` would block it forever: then it was
    cancelled.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait([task], timeout=CHECK_AFTER)
        if not done and await asyncio.to_thread(blocking_file, start) is not None and not task.done():
            return None
        return await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
