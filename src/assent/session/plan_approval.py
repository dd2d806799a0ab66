"""Ends plan mode when a person accepts the model's plan, in the mode that they chose with it."""

from collections.abc import Sequence

from msgspec import ValidationError, convert

from assent.approval import Mode
from assent.commands import SetMode
from assent.scheduler.call import Success, Terminal
from assent.session.session_settings import SessionSettings
from assent.tools.declared import PLAN


class PlanApproval:
    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings

    async def settled(self, calls: Sequence[Terminal]) -> None:
        """Called when a batch is over. Our own tool made the result from the person's answer."""
        for call in calls:
            if isinstance(call, Success) and call.request.tool == PLAN and call.decision.source == "person":
                mode = _mode(call.result.response.get("mode"))
                if mode is not None:
                    await self._settings.make(SetMode(mode, by=call.decision.by))


def _mode(value: object) -> Mode | None:
    try:
        return convert(value, Mode)
    except ValidationError:
        return None
