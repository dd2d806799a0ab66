"""The gate of a batch: no call continues before all are decided."""

import asyncio

from assent.scheduler.call_task import CallTask


class Barrier:
    """Opens whenever everyone still in the batch has arrived."""

    def __init__(self, parties: int) -> None:
        self._parties = parties
        self._arrived: dict[CallTask, asyncio.Future[bool]] = {}

    async def arrive(self, task: CallTask) -> bool:
        """True if it has opened; False if the call must be looked at again first."""
        if task.stale:
            return False
        place = self._arrived[task] = asyncio.get_running_loop().create_future()
        self._open_if_complete()
        try:
            return await place
        finally:
            self._arrived.pop(task, None)

    def withdraw(self, task: CallTask) -> None:
        place = self._arrived.pop(task, None)
        if place is not None and not place.done():
            place.set_result(False)

    def leave(self) -> None:
        self._parties -= 1
        self._open_if_complete()

    def _open_if_complete(self) -> None:
        if not 0 < len(self._arrived) >= self._parties:
            return
        arrived, self._arrived = self._arrived, {}
        for place in arrived.values():
            if not place.done():
                place.set_result(True)
