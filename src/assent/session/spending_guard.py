"""Checks before each request whether the session, or the day, has reached a limit."""

from collections.abc import Callable

from assent.agent.spending import Spending, day_of, limits_by_day, reached_limit
from assent.config import SpendingLimits
from assent.session.log import SessionLog
from assent.session.state import SessionState


class SpendingGuard:
    def __init__(
        self, state: SessionState, log: SessionLog, limits: SpendingLimits, clock: Callable[[], float]
    ) -> None:
        self._state, self._log, self._limits, self._clock = state, log, limits, clock

    async def reached_limit(self) -> str:
        """The message for the person; empty if another request may be made."""
        if self._limits == SpendingLimits():
            return ""
        today = Spending()
        if limits_by_day(self._limits):
            today = await self._log.spent_on(day_of(self._clock()))
        return reached_limit(self._limits, self._state.spending, today)
