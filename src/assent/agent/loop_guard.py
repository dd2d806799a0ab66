"""Notices when the model goes in circles: the same calls with the same results, over and over.

A call whose result changes is not a loop: polling is legitimate.
"""

from collections import deque
from collections.abc import Sequence

import msgspec

from assent.scheduler.call import Terminal

MAX_CYCLE = 5
REPEATS = 5
_encoder = msgspec.json.Encoder(order="deterministic")


class LoopGuard:
    def __init__(self) -> None:
        self._seen: deque[bytes] = deque(maxlen=MAX_CYCLE * REPEATS)

    def observe(self, calls: Sequence[Terminal]) -> bool:
        """Note finished calls; true if the newest ones repeat a cycle often enough."""
        for call in calls:
            self._seen.append(_encoder.encode([call.request.tool, call.request.args, call.result.response]))
            if any(self._cycles(length) for length in range(1, MAX_CYCLE + 1)):
                return True
        return False

    def _cycles(self, length: int) -> bool:
        newest = list(self._seen)[-length * REPEATS :]
        return len(newest) == length * REPEATS and newest == newest[:length] * REPEATS
