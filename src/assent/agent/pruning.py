"""Pruning: removes the output of old calls from a long conversation; the calls themselves stay.

It needs no model, and its result is deterministic. The log keeps every output, and the model can run a call again.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from assent.agent import token_estimate
from assent.parts import JsonObject, Message, Result, UserMessage

KEPT_SHARE = 0.4
"""The share of the conversation, by size, whose output stays: the newest part. Of the window, if that is smaller."""
MIN_TOKENS = 250
"""Tokens. Shorter output is not worth the notice that replaces it."""


class Pruning(Struct, frozen=True):
    call_ids: tuple[str, ...]
    before: int
    """Tokens of the conversation, estimated."""
    after: int

    @property
    def saved(self) -> int:
        return self.before - self.after


def plan_pruning(messages: Sequence[Message], may_prune: Callable[[str], bool], window: int = 0) -> Pruning:
    """Which results to prune. `may_prune` takes the name of a tool."""
    sizes = [token_estimate.of_message(message) for message in messages]
    total = sum(sizes)
    kept = KEPT_SHARE * min(total, window or total)
    newest, found, saved = 0, list[str](), 0
    for message, size in zip(reversed(messages), reversed(sizes), strict=True):
        if newest > kept and isinstance(message, UserMessage):
            chosen = [part for part in message.parts if isinstance(part, Result) and _is_worth_it(part, may_prune)]
            found += [part.call_id for part in chosen]
            saved += sum(_size(part) - _size(pruned(part)) for part in chosen)
        newest += size
    return Pruning(tuple(reversed(found)), total, total - saved)


def pruned(result: Result) -> Result:
    """The result as the model sees it from now on. An error stays, so that the model does not repeat what failed."""
    notice = f"[Old output removed, about {_size(result):,} tokens. Run the call again if you need it.]"
    response: JsonObject = {"output": notice}
    if "error" in result.response:
        response["error"] = str(result.response["error"])[: MIN_TOKENS * 4]
    return Result(result.call_id, result.name, response)


def _is_worth_it(result: Result, may_prune: Callable[[str], bool]) -> bool:
    smallest = 2 * MIN_TOKENS if "error" in result.response else MIN_TOKENS
    return _size(result) > smallest and may_prune(result.name)


def _size(result: Result) -> int:
    return token_estimate.of_result(result)
