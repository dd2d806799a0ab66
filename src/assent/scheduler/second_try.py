"""Asks the person whether to run a command again with what the sandbox refused: writing to a path, or connecting.

The offer is a call of its own below the command. So it is judged, recorded, shown and answered like every other, once
or always, and it runs with exactly what was shown. It ends with the command at the latest.
"""

import asyncio
import secrets
from collections.abc import Callable

from assent.events import CallRequest
from assent.parts import JsonObject
from assent.scheduler.call import Cancelled, Success, ToolCall, Validating
from assent.scheduler.call_task import CallTask
from assent.scheduler.connection_gate import Ask
from assent.tools.response import cancel_reason

MAX_WAIT = 300.0
"""Seconds for an answer; the result of the first run waits that long."""
WITHDRAWN = "The command that this was offered for was cancelled."


class SecondTry:
    """For one running call."""

    def __init__(self, parent: CallTask, now: Callable[[], float], ask: Ask, *, attended: bool) -> None:
        self._parent = parent
        self._now = now
        self._ask = ask
        self._attended = attended

    async def offer(self, wider: JsonObject) -> str | None:
        """What the model is told about the offer to run it again with these arguments; None if nobody can be asked."""
        if not self._attended:
            return None
        parent = self._parent.request
        request = CallRequest(
            call_id=f"{parent.call_id}-again-{secrets.token_hex(4)}",
            tool=parent.tool,
            args=parent.args | wider,
            prompt_id=parent.prompt_id,
            initiator="call",
            parent=parent.call_id,
        )
        child = CallTask(Validating(request, self._now()))
        child.max_wait = MAX_WAIT
        asking = asyncio.ensure_future(self._ask(child))
        try:
            return _told(await asyncio.shield(asking))
        except asyncio.CancelledError:
            child.cancel(WITHDRAWN)
            await asyncio.gather(asking, return_exceptions=True)
            raise


def _told(call: ToolCall) -> str:
    match call:
        case Success(result=result):
            return f"The user allowed that, and the command ran again:\n{result.response.get('output', '')}"
        case Cancelled(result=result):
            return f"The user was asked to allow that, and the command did not run again: {cancel_reason(result)}"
        case _:
            return "The user was asked to allow that, and the command did not run again."
