"""What SIGINT and SIGTERM do to a process that serves or works: the first one shuts it down cleanly, the second exits
at once."""

import asyncio
import os
import signal
from collections.abc import Callable


def on_stop_signal(stop: Callable[[], None]) -> None:
    """Calls `stop` with the first signal. Call it in the event loop of the process."""
    signals = 0

    def received() -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            os._exit(130)
        stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, received)
