"""Call ids: made up where the provider gives none, unique for the session, and never used twice."""

import secrets
from collections.abc import Iterable

from assent.events import CallRequest, Initiator
from assent.parts import JsonObject


class CallIds:
    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)

    def request(
        self, call_id: str | None, tool: str, args: JsonObject, prompt_id: str, initiator: Initiator = "model"
    ) -> CallRequest:
        """A request with an id of its own. One that came with a used id is marked, so that it is refused alone."""
        problem = ""
        if call_id in self._used:
            problem = f"The call id {call_id!r} was used before in this session. Give every call an id of its own."
        if not call_id or problem:
            call_id = self._made_up(tool)
        self._used.add(call_id)
        return CallRequest(call_id, tool, args, prompt_id, initiator, problem)

    def _made_up(self, tool: str) -> str:
        while (call_id := f"{tool}-{secrets.token_hex(6)}") in self._used:
            pass
        return call_id
