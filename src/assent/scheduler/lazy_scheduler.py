"""A scheduler that is loaded with the first call, or while the model thinks: the first request does not wait for it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from assent.commands import Answer
from assent.events import CallRequest
from assent.scheduler.call import AwaitingApproval, ToolCall

if TYPE_CHECKING:
    from assent.scheduler.batch import Batch
    from assent.scheduler.scheduler import Scheduler


class LazyScheduler:
    """See `Scheduler`. What is not loaded has no calls; closing loads it, because it must refuse those to come."""

    def __init__(self, load: "Callable[[], Scheduler]") -> None:
        self._load = load
        self._loaded: Scheduler | None = None

    def _get(self) -> "Scheduler":
        self._loaded = self._loaded or self._load()
        return self._loaded

    def prepare(self) -> None:
        self._get().prepare()

    def schedule(self, requests: CallRequest | Sequence[CallRequest]) -> "Batch":
        return self._get().schedule(requests)

    def restore(self, calls: Iterable[ToolCall]) -> "Batch":
        return self._get().restore(calls)

    async def answer(self, answer: Answer, key: str = "") -> None:
        await self._get().answer(answer, key)

    async def rejudge(self) -> None:
        if self._loaded is not None:
            await self._loaded.rejudge()

    async def judged(self) -> None:
        if self._loaded is not None:
            await self._loaded.judged()

    def waiting(self) -> list[AwaitingApproval]:
        return [] if self._loaded is None else self._loaded.waiting()

    @property
    def busy(self) -> bool:
        return self._loaded is not None and self._loaded.busy

    @property
    def only_waits(self) -> bool:
        return self._loaded is not None and self._loaded.only_waits

    def cancel(self, batch: "Batch", reason: str) -> None:
        self._get().cancel(batch, reason)

    def cancel_call(self, call_id: str, reason: str) -> None:
        self._get().cancel_call(call_id, reason)

    async def withdraw(self, calls: Iterable[ToolCall]) -> None:
        await self._get().withdraw(calls)

    def type_in(self, call_id: str, number: int, text: str | None) -> None:
        self._get().type_in(call_id, number, text)

    async def park(self) -> None:
        await self._get().park()
