"""The numbers of a session: counted from its events, and drawn with bars."""

from collections.abc import Callable

import pytest
from textual.content import Content

from assent.app.wording import span
from assent.approval import Approval, Decision, ExecDetails
from assent.config import Price
from assent.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallFinished,
    CallRequest,
    CallRequested,
    CallScheduled,
    CallStarted,
    DurableEvent,
    Envelope,
    ModelReplied,
    PromptSubmitted,
    SessionCreated,
    SessionOpened,
    TurnFinished,
)
from assent.front.tui.stats import (
    ModelUse,
    Tally,
    bar,
    model_stats,
    money,
    session_stats,
    tool_stats,
)
from assent.models.gemini.gemini_provider import LONG_INPUT
from assent.models.model_facts import Prices
from assent.parts import Failure, Result, Usage
from support.app_harness import AppHarness
from support.program import says

pytestmark = pytest.mark.spec("G5")

APPROVAL = Approval(
    id="a1",
    digest="d",
    details=ExecDetails(command="rm x", roots=("rm",), directory="/w", risk="high", risk_reason="it deletes"),
    options=("proceed_once",),
    why="no rule",
)


def tally_of(envelopes: list[Envelope], prices: Prices | None = None) -> Tally:
    tally = Tally(prices=prices or Prices())
    for envelope in envelopes:
        tally.apply(envelope)
    return tally


def at(*events: tuple[float, DurableEvent]) -> list[Envelope]:
    return [Envelope(seq, ts, "s", event) for seq, (ts, event) in enumerate(events, start=1)]


def requested(call_id: str, tool: str) -> CallRequested:
    return CallRequested(CallRequest(call_id=call_id, tool=tool, args={}, prompt_id="p"))


def finished(call_id: str, tool: str, status: str = "success") -> CallFinished:
    failure = Failure("x", "no") if status == "error" else None
    return CallFinished(call_id=call_id, status=status, result=Result(call_id, tool, {}), failure=failure)  # pyright: ignore[reportArgumentType]


def a_session() -> list[Envelope]:
    return at(
        (0, SessionCreated(folder="/w", model="gemini-2.5-pro", mode="default", version="1")),
        (1, SessionOpened(1, "t")),
        (10, PromptSubmitted("p", "go", "ann")),
        (
            14,
            ModelReplied(
                prompt_id="p", model="gemini-2.5-pro", parts=(), finish="stop", usage=Usage(1000, 100, 50, 400)
            ),
        ),
        (14, requested("c1", "run_shell_command")),
        (14, requested("c2", "read_file")),
        (15, ApprovalRequested("c1", APPROVAL)),
        (15, CallScheduled("c2", Decision(source="tool", reason="harmless"))),
        (35, ApprovalAnswered(call_id="c1", approval_id="a1", outcome="proceed_once", by="ann")),
        (35, CallScheduled("c1", Decision(source="person", reason="said yes", edited=True))),
        (36, CallStarted("c1", "d")),
        (36, CallStarted("c2", "d")),
        (37, finished("c2", "read_file", "error")),
        (40, finished("c1", "run_shell_command")),
        (46, ModelReplied(prompt_id="p", model="gemini-2.5-flash", parts=(), finish="stop", usage=Usage(2000, 10))),
        (47, TurnFinished("p", "completed")),
    )


def test_times_are_told_apart():
    times = tally_of(a_session()).times
    assert (times.turns, times.model, times.tools, times.waiting) == (37, 10, 5, 20)


def test_calls_are_counted_by_tool_with_how_they_ended_and_who_was_asked():
    tools = tally_of(a_session()).tools
    shell, read = tools["run_shell_command"], tools["read_file"]
    assert (shell.count, shell.success, shell.asked, shell.edited, shell.seconds) == (1, 1, 1, 1, 4)
    assert (read.count, read.error, read.asked, read.seconds) == (1, 1, 0, 1)


def test_each_model_has_its_own_count_and_cost():
    tally = tally_of(a_session())
    pro = tally.models["gemini-2.5-pro"]
    assert (pro.requests, pro.usage) == (1, Usage(1000, 100, 50, 400))
    assert pro.dollars == pytest.approx((600 * 1.25 + 400 * 0.125 + 150 * 10) / 1e6)
    assert tally.spent.dollars == pytest.approx(pro.dollars + (2000 * 0.30 + 10 * 2.5) / 1e6)


def test_the_time_while_the_session_was_closed_is_not_counted():
    before = a_session()[:9]
    del before[-1]
    crashed_at, reopened_at = before[-1].ts, 10_000.0
    later = [
        (reopened_at, SessionOpened(2, "t")),
        (reopened_at + 5, ApprovalAnswered(call_id="c1", approval_id="a1", outcome="cancel", by="ann")),
        (reopened_at + 6, finished("c1", "run_shell_command", "cancelled")),
        (reopened_at + 7, TurnFinished("p", "completed")),
    ]
    tally = tally_of(before + [Envelope(len(before) + n, ts, "s", e) for n, (ts, e) in enumerate(later, start=1)])
    assert tally.times.waiting == 5 and tally.times.turns == crashed_at - 10 + 7
    shell = tally.tools["run_shell_command"]
    assert (shell.refused, shell.cancelled) == (1, 0), "it is not counted twice"


def test_a_model_without_a_price_makes_the_cost_unknown_and_says_what_to_do():
    events = at((1, ModelReplied(prompt_id="p", model="mystery", parts=(), finish="stop", usage=Usage(5, 5))))
    tally = tally_of(events)
    assert tally.spent.unpriced == 1
    assert "unknown: no price for mystery" in session_stats(tally).plain
    assert "[prices." in session_stats(tally).plain
    assert model_stats(tally).plain.count("?") == 1


def test_what_a_model_with_a_price_has_cost_is_kept_when_another_has_none():
    known = ModelReplied(prompt_id="p", model="gemini-2.5-pro", parts=(), finish="stop", usage=Usage(100_000))
    unknown = ModelReplied(prompt_id="p", model="mystery", parts=(), finish="stop", usage=Usage(5, 5))
    tally = tally_of(at((1, known), (2, unknown), (3, known)))
    assert (tally.spent.dollars, tally.spent.unpriced) == (pytest.approx(0.25), 1)
    assert "Cost  $0.2500+?: no price for mystery" in session_stats(tally).plain


async def test_the_last_line_keeps_the_cost_when_a_model_has_no_price(harness: Callable[..., AppHarness]):
    async with harness(says("One.")).open(prompt="go") as on:
        await on.until_idle()
        tally = on.app.feed.tally
        tally.models["gemini-2.5-pro"] = ModelUse(1, Usage(100_000), 0.125)
        on.app.show_status()
        await on.until_shown("$0.12")
        tally.models["mystery"] = ModelUse(1, Usage(5, 5), 0.0, 1)
        on.app.show_status()
        await on.until_shown("$0.12+?")


def test_the_users_own_price_comes_before_the_list():
    prices = Prices({"mystery": Price(1, 2), "gemini-2.5-pro": Price(1, 1, 1)})
    assert prices.cost("mystery", Usage(1_000_000, 1_000_000, cached=500_000)) == 3
    assert prices.cost("gemini-2.5-pro", Usage(1_000_000)) == 1
    assert (
        "your prices"
        in session_stats(
            tally_of(
                at((1, ModelReplied(prompt_id="p", model="mystery", parts=(), finish="stop", usage=Usage(5)))), prices
            )
        ).plain
    )


def test_a_long_prompt_has_its_own_price():
    prices = Prices()
    assert prices.cost("gemini-2.5-pro", Usage(LONG_INPUT)) == pytest.approx(0.25)
    assert prices.cost("gemini-2.5-pro", Usage(2 * LONG_INPUT)) == pytest.approx(1.0)


@pytest.mark.parametrize(("day", "dollars"), [("2026-11-30", 2.0), ("2026-12-01", 4.0), ("2027-01-01", 4.0)])
def test_a_price_that_was_announced_counts_from_its_day_on(day: str, dollars: float):
    assert Prices(today=lambda: day).cost("gemini-4-argon", Usage(1_000_000)) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("part", "whole", "drawn"),
    [
        (0, 10, "    "),
        (10, 10, "████"),
        (5, 10, "██  "),
        (0.001, 10, "▏   "),
        (9, 16, "██▎ "),
        (20, 10, "████"),
        (1, 0, "    "),
    ],
)
def test_bars_are_made_of_eighths(part: float, whole: float, drawn: str):
    assert bar(part, whole, 4) == drawn


def test_numbers_read_well():
    assert (money(0.00123), money(12.5), money(None)) == ("$0.0012", "$12.50", "unknown")
    assert (span(0.42), span(75), span(3725)) == ("0.4 s", "1 min 15 s", "1 h 02 min")


def test_lines_are_aligned_and_fit_a_terminal():
    lines = session_stats(tally_of(a_session())).plain.split("\n")
    tokens = [line for line in lines if line.startswith(("  input", "  output", "  thoughts", "    of it"))]
    assert len({Content(line).cell_length for line in tokens}) == 1
    assert all(Content(line).cell_length <= 80 for line in lines)


def test_an_empty_session_has_something_to_say():
    assert "No tool has been used yet." in session_stats(tally_of([])).plain
    assert session_stats(tally_of([])).plain.rstrip().endswith("$0.0000")  # by no list of prices
    assert model_stats(tally_of([])).plain == "No model has been used yet."
    assert "failed" in tool_stats(tally_of(a_session())).plain
