"""What the model has used, and which limit that reaches. Pure: it neither counts nor stores anything."""

import time
from collections.abc import Iterator

from msgspec import Struct

from assent.config import SpendingLimits
from assent.events import ChatCompressed, Event, ModelReplied, SessionRenamed
from assent.parts import Usage


class Spending(Struct, frozen=True):
    requests: int = 0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Requests whose price is unknown."""

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.requests + other.requests,
            self.tokens + other.tokens,
            self.dollars + other.dollars,
            self.unpriced + other.unpriced,
        )


def spending_of(event: Event) -> Spending:
    """A reply without usage counts as a request that used nothing."""
    if not isinstance(event, ModelReplied | ChatCompressed | SessionRenamed):
        return Spending()
    if event.usage == Usage():
        return Spending(1 if isinstance(event, ModelReplied) else 0)
    priced = event.cost is not None
    return Spending(1, event.usage.total, event.cost or 0.0, 0 if priced else 1)


def day_of(ts: float) -> str:
    """The day in local time."""
    return time.strftime("%Y-%m-%d", time.localtime(ts))


def limits_by_day(limits: SpendingLimits) -> bool:
    return bool(limits.requests_per_day or limits.tokens_per_day or limits.dollars_per_day)


def reached_limit(limits: SpendingLimits, session: Spending, today: Spending) -> str:
    """The message for the person if a limit is reached; empty otherwise."""
    return next(_reached(limits, session, today), "")


def _reached(limits: SpendingLimits, session: Spending, today: Spending) -> Iterator[str]:
    counts = (
        ("requests_per_session", session.requests, limits.requests_per_session, "this session has made {:,} requests"),
        ("requests_per_day", today.requests, limits.requests_per_day, "your sessions have made {:,} requests today"),
        ("tokens_per_session", session.tokens, limits.tokens_per_session, "this session has used {:,} tokens"),
        ("tokens_per_day", today.tokens, limits.tokens_per_day, "your sessions have used {:,} tokens today"),
        ("dollars_per_session", session.dollars, limits.dollars_per_session, "this session has cost ${:,.2f}"),
        ("dollars_per_day", today.dollars, limits.dollars_per_day, "your sessions have cost ${:,.2f} today"),
    )
    for name, used, limit, words in counts:
        if limit and used >= limit:
            yield f"Limit reached: {words.format(used)}. {_how_to_continue(name, limit)}"
    if (limits.dollars_per_session and session.unpriced) or (limits.dollars_per_day and today.unpriced):
        yield (
            "There is a limit in dollars, but the price of this model is unknown, so the limit cannot be enforced. "
            'Set the price under [prices."MODEL"] in settings.toml, or remove the limit.'
        )


def _how_to_continue(name: str, limit: float) -> str:
    return f"Raise {name} (now {limit:,}) under [limits] in settings.toml, then continue with: assent --resume"
