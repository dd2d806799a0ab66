"""Limits per session and per day: reached, the turn ends with an event that says how to go on. Row K5."""

import time
from typing import Any

import pytest

from assent.agent.spending import Spending, day_of, reached_limit
from assent.commands import Compress, Submit
from assent.config import SpendingLimits
from assent.events import ModelReplied, TurnFinished
from assent.parts import Usage
from assent.session.log import SessionLog
from assent.session.memory_log import MemoryLog
from support.session_harness import SessionHarness, call, calls, text

pytestmark = pytest.mark.spec("K5")

USED = Spending(requests=3, tokens=1_000, dollars=0.5)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (SpendingLimits(), ""),
        (SpendingLimits(requests_per_session=4, tokens_per_session=1_001, dollars_per_session=0.51), ""),
        (SpendingLimits(requests_per_session=3), "this session has made 3 requests"),
        (SpendingLimits(tokens_per_session=1_000), "this session has used 1,000 tokens"),
        (SpendingLimits(dollars_per_session=0.5), "this session has cost $0.50"),
        (SpendingLimits(requests_per_day=6), "your sessions have made 6 requests today"),
        (SpendingLimits(tokens_per_day=2_000), "your sessions have used 2,000 tokens today"),
        (SpendingLimits(dollars_per_day=0.9), "your sessions have cost $1.00 today"),
    ],
)
def test_a_reached_limit_is_named_with_advice(limits: SpendingLimits, words: str) -> None:
    told = reached_limit(limits, USED, USED + USED)
    assert words in told and bool(told) == bool(words)
    assert not told or "under [limits] in settings.toml" in told


def test_a_limit_in_dollars_does_not_let_an_unknown_price_pass() -> None:
    told = reached_limit(SpendingLimits(dollars_per_session=10), Spending(requests=1, unpriced=1), Spending())
    assert "the price of this model is unknown" in told


def dollar(model: str, usage: Usage) -> float:
    return 1.0


NONE = SpendingLimits()


async def asked(harness: SessionHarness, prompt: str = "go", limits: SpendingLimits = NONE) -> TurnFinished:
    harness.options |= {"limits": limits, "cost": dollar}
    done = len(harness.recorded(TurnFinished)) + 1
    async with await harness.open() as runner:
        await harness.send(runner, Submit(prompt))
        return await harness.until_done(done)


def working(count: int) -> list[dict[str, Any]]:
    used = {"input": 90, "output": 10}
    replies = [{"chunks": [call("read_note", f"c{n}", text="x")], "usage": used} for n in range(count)]
    return [*replies, text("Done.", usage=used)]


@pytest.mark.spec("F5b")
@pytest.mark.parametrize(
    "limits",
    [
        SpendingLimits(requests_per_session=2),
        SpendingLimits(tokens_per_session=200),
        SpendingLimits(dollars_per_session=2),
        SpendingLimits(requests_per_day=2),
        SpendingLimits(tokens_per_day=200),
        SpendingLimits(dollars_per_day=2),
    ],
)
async def test_a_session_that_reaches_its_limit_stops_in_the_middle_of_the_turn(limits: SpendingLimits) -> None:
    harness = SessionHarness(*working(5))
    finished = await asked(harness, limits=limits)
    assert finished.status == "limit_reached" and finished.failure and "Limit reached" in finished.failure.message
    assert len(harness.model.requests) == 2
    assert [reply.cost for reply in harness.recorded(ModelReplied)] == [1.0, 1.0]


async def test_with_a_higher_limit_the_session_goes_on() -> None:
    harness = SessionHarness(*working(2))
    assert (await asked(harness, limits=SpendingLimits(requests_per_session=2))).status == "limit_reached"
    assert (await asked(harness, "continue", limits=SpendingLimits(requests_per_session=9))).status == "completed"


async def test_a_daily_limit_counts_all_sessions_even_deleted_ones() -> None:
    log: SessionLog = MemoryLog()
    first = SessionHarness(*working(1), log=log)
    assert (await asked(first)).status == "completed"
    await log.delete(first.session)
    second = SessionHarness(*working(1), log=log)
    assert (await asked(second, limits=SpendingLimits(dollars_per_day=2))).status == "limit_reached"
    assert len(second.model.requests) == 0


async def test_requests_count_even_if_nobody_says_what_they_used() -> None:
    """Servers on one's own machine often do not."""
    harness = SessionHarness(calls(call("read_note", text="x")), text("Done."))
    limits = SpendingLimits(requests_per_session=1, requests_per_day=1)
    assert (await asked(harness, limits=limits)).status == "limit_reached"
    assert len(harness.model.requests) == 1
    assert (await harness.log.spent_on(day_of(time.time()))).requests == 1


async def test_a_compression_that_a_person_asks_for_respects_the_limits() -> None:
    harness = SessionHarness(text("word " * 900, usage={"input": 10}), text("never asked for"))
    harness.options["limits"] = SpendingLimits(requests_per_session=1)
    async with await harness.open() as runner:
        await harness.send(runner, Submit("go"))
        await harness.until_done()
        assert "this session has made 1 requests" in await harness.send(runner, Compress())
    assert len(harness.model.requests) == 1


async def test_yesterday_does_not_count() -> None:
    log = MemoryLog()
    first = SessionHarness(*working(1), log=log)
    first.options["clock"] = lambda: 0.0
    await asked(first)
    assert (await log.spent_on(day_of(0.0))).dollars == 2
    second = SessionHarness(*working(1), log=log)
    assert (await asked(second, limits=SpendingLimits(dollars_per_day=2))).status == "completed"
