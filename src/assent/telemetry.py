"""One record for every prompt, call and error: a projection of the log, so that nothing can be missing."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assent.approval import Decision
from assent.events import (
    ApprovalAnswered,
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    Envelope,
    PromptSubmitted,
    TurnFinished,
)

_DECISIONS = {"proceed_once": "accept", "modify_with_editor": "modify", "run_directly": "accept", "cancel": "reject"}


def records(envelopes: Iterable[Envelope]) -> Iterator[bytes]:
    """JSON objects, in the order in which things ended."""
    telemetry = _Telemetry()
    for envelope in envelopes:
        record = telemetry.record(envelope)
        if record is not None:
            yield msgspec.json.encode({"ts": envelope.ts, "session": envelope.session} | record)


class _Telemetry:
    def __init__(self) -> None:
        self._requests: dict[str, CallRequest] = {}
        self._decisions: dict[str, str] = {}

    def record(self, envelope: Envelope) -> dict[str, Any] | None:
        match envelope.event:
            case CallRequested(request=request):
                self._requests[request.call_id] = request
            case ApprovalAnswered(call_id=call_id, outcome=outcome, args=args):
                decided = "modify" if args is not None else _DECISIONS.get(outcome, "auto_accept")
                self._decisions[call_id] = decided
            case CallScheduled(call_id=call_id, decision=Decision(source=source)) if source != "person":
                self._decisions[call_id] = "auto_accept"
            case PromptSubmitted(prompt_id=prompt_id, text=text):
                return {"name": "user_prompt", "prompt_id": prompt_id, "prompt_length": len(text)}
            case CallFinished():
                return self._call(envelope.event)
            case TurnFinished(prompt_id=prompt_id, status=status, failure=failure) if failure is not None:
                return {
                    "name": "error",
                    "prompt_id": prompt_id,
                    "status": status,
                    "error_type": failure.type,
                    "error": failure.message,
                }
            case _:
                pass
        return None

    def _call(self, event: CallFinished) -> dict[str, Any]:
        request = self._requests[event.call_id]
        return {
            "name": "tool_call",
            "prompt_id": request.prompt_id,
            "call_id": event.call_id,
            "function_name": request.tool,
            "function_args": request.args,
            "initiator": request.initiator,
            "duration_ms": event.duration_ms,
            "status": event.status,
            "success": event.status == "success",
            "decision": self._decisions.get(event.call_id, "reject"),
            "error_type": event.failure.type if event.failure else None,
            "error": event.failure.message if event.failure else None,
        }
