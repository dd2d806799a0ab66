"""Call ids: generated if the provider gives none, unique in the session, and never reused.

Some models number their calls, and start over when the conversation was compressed: an id that the model can no longer
see is replaced, one that it can see is refused.

Ids appear in addresses, file names and on screens, so one with unexpected characters, or a very long one, is replaced.
The same id always gets the same replacement, so a duplicate is still detected.
"""

import os
import re
from collections.abc import Callable, Iterable

from assent.events import CallRequest, Initiator
from assent.parts import JsonObject

_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.~-]{0,127}")


class CallIds:
    def __init__(self, used: Iterable[str] = (), is_forgotten: Callable[[str], bool] = lambda _: False) -> None:
        """`is_forgotten`: whether the call of this id has left the conversation."""
        self._used = set(used)
        self._is_forgotten = is_forgotten

    def request(
        self, call_id: str | None, tool: str, args: JsonObject, prompt_id: str, initiator: Initiator = "model"
    ) -> CallRequest:
        """A request with a unique id. One that reuses an id is marked, so that only it is refused."""
        problem = ""
        call_id = _harmless(call_id) if call_id else ""
        if call_id in self._used and not self._is_forgotten(call_id):
            problem = f"The call id {call_id!r} was already used in this session. Give every call a new id."
        if not call_id or call_id in self._used:
            call_id = self._made_up(tool)
        self._used.add(call_id)
        return CallRequest(
            call_id=call_id, tool=tool, args=args, prompt_id=prompt_id, initiator=initiator, problem=problem
        )

    def _made_up(self, tool: str) -> str:
        beginning = tool if len(tool) <= 100 and _HARMLESS.fullmatch(tool) else "call"
        while (call_id := f"{beginning}-{os.urandom(6).hex()}") in self._used:
            pass
        return call_id


def _harmless(call_id: str) -> str:
    if _HARMLESS.fullmatch(call_id):
        return call_id
    import hashlib

    return f"call-{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:24]}"
