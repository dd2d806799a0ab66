"""Decides whether a running command may connect to a host: by rules, by what was allowed with it, or by asking.

A question is a call of its own (`assent.tools.connect`), below the command that needs it. So it is recorded, shown and
answered like every other. It ends with the command at the latest. The answer holds for the rest of the command.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from assent.approval import InfoDetails
from assent.events import CallRequest
from assent.parts import Failure
from assent.policy.action import Action
from assent.policy.policy import Policy
from assent.scheduler.call import Cancelled, Failed, Success, ToolCall, Validating
from assent.scheduler.call_task import CallTask
from assent.tools.response import cancel_reason
from assent.web.connection_verdict import Access
from assent.web.destinations import CONNECT, Destination, is_listed, why_refused

MAX_WAIT = 300.0
"""Seconds for an answer; the command waits that long."""
MAX_QUESTIONS = 20
"""For one command. More hosts can be allowed by listing them."""
WITHDRAWN = "The command that wanted to connect has ended."
Ask = Callable[[CallTask], Coroutine[Any, Any, ToolCall]]
"""Takes a call from request to result."""


class ConnectionGate:
    """For one running call."""

    def __init__(self, parent: CallTask, policy: Policy, now: Callable[[], float], ask: Ask) -> None:
        self._parent = parent
        self._policy = policy
        self._now = now
        self._ask = ask
        self._asked: dict[Destination, asyncio.Task[Access]] = {}
        self._children: list[CallTask] = []

    async def judge(self, wanted: Destination, entries: tuple[str, ...]) -> Access:
        named = (*entries, *self._policy.connections())
        if (why := why_refused(wanted, named)) is not None:
            return Access(False, why)
        details = InfoDetails(str(wanted), (wanted.url,), wanted.warnings())
        verdict = self._policy.judge(Action(tool=CONNECT, args={}, details=details, main=wanted.host))
        match verdict.ruling:
            case "deny":
                return Access(False, verdict.reason)
            case "allow":
                return Access(True, verdict.reason, named)
            case "ask" if not verdict.rule and is_listed(wanted, entries, named):
                return Access(True, "it is in the list of domains for this command", named)
            case "ask":
                return await self._answer(wanted, named)

    async def _answer(self, wanted: Destination, named: tuple[str, ...]) -> Access:
        """Several connections to the same host share one question, and all that come later its answer."""
        if wanted not in self._asked:
            if len(self._asked) >= MAX_QUESTIONS:
                return Access(False, f"the command has already asked for {MAX_QUESTIONS} hosts")
            self._asked[wanted] = asyncio.ensure_future(self._question(wanted, named))
        return await asyncio.shield(self._asked[wanted])

    async def _question(self, wanted: Destination, named: tuple[str, ...]) -> Access:
        parent = self._parent.request
        request = CallRequest(
            call_id=f"{parent.call_id}-{CONNECT}-{secrets.token_hex(4)}",
            tool=CONNECT,
            args={"host": wanted.host, "port": wanted.port, "command": parent.args.get("command", "")},
            prompt_id=parent.prompt_id,
            initiator="call",
            parent=parent.call_id,
        )
        child = CallTask(Validating(request, self._now()))
        child.max_wait = MAX_WAIT
        self._children.append(child)
        call = await self._ask(child)
        if any(call.request.args.get(name) != value for name, value in request.args.items()):
            return Access(False, "the question was changed before it was answered")
        return _access(call, named)

    async def close(self) -> None:
        """Withdraw the questions that nobody has answered."""
        for child in self._children:
            child.cancel(WITHDRAWN)
        await asyncio.gather(*self._asked.values(), return_exceptions=True)


def _access(call: ToolCall, named: tuple[str, ...]) -> Access:
    match call:
        case Success(decision=decision):
            return Access(True, decision.reason, named)
        case Failed(failure=Failure(type="approval_unavailable")):
            return Access(False, "no rule allows it, and nobody can be asked")
        case Failed(failure=failure):
            return Access(False, failure.message)
        case Cancelled(result=result):
            return Access(False, cancel_reason(result))
        case _:
            return Access(False, "it was not decided")
