"""Small helpers for commands: send and wait for the outcome, confirm, choose from a list, format safely."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from textual.content import Content

from assent.app.call_states import Executing
from assent.app.command_sender import Closed, send
from assent.app.session_log import LogError
from assent.app.wording import count, safe
from assent.client.api import ApiProblem
from assent.front.tui.host import NotHere
from assent.front.tui.lists import Action, Column, ListScreen, Row

if TYPE_CHECKING:
    from assent.commands import Command
    from assent.front.tui.slash.slash_context import SlashContext

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|~!&-])")


def quoted(text: str) -> str:
    """Untrusted text inside a note: one line, safe to show, without markup."""
    return _MARKDOWN.sub(r"\\\1", safe(text, "label"))


def named(text: str) -> str:
    """A name inside a plain sentence."""
    return safe(text, "label")


async def carry_out(context: "SlashContext", command: "Command") -> bool:
    """Sends it and waits until it is taken; says why if it was refused.

    The event of the change reports it, in the transcript of everyone who watches.
    """
    problem = await send(context.client, context.feed.outcomes, command)
    if problem:
        context.complain(f"Not done: {problem.rstrip('.')}.")
    return not problem


HOST_ERRORS = (NotHere, LogError, Closed, ApiProblem, OSError)
"""What can go wrong with a session or a host; the messages are for the person."""


def action(context: "SlashContext", key: str, label: str, run: Callable[[Row], Awaitable[None]]) -> Action:
    """An action that leaves the list open; errors are reported, and the list stays."""

    async def guarded(row: Row) -> None:
        try:
            await run(row)
        except HOST_ERRORS as error:
            context.complain(str(error))

    return Action(key, label, guarded)


async def pick(
    context: "SlashContext",
    title: str,
    rows: Sequence[Row],
    *,
    start: str = "",
    label: str = "choose",
    on_highlight: Callable[[Row], None] | None = None,
) -> str | None:
    """The key of the chosen row; None if the list was closed."""
    columns = tuple(Column("") for _ in rows[0].cells) if rows else ()
    chosen = await context.push(
        ListScreen(title, columns, still(rows), [Action("enter", label)], start=start, on_highlight=on_highlight)
    )
    return chosen.row.key if chosen is not None else None


async def choose(
    context: "SlashContext",
    title: str,
    columns: Sequence[Column],
    source: Callable[[], Awaitable[Sequence[Row]]],
    actions: Sequence[Action],
    empty: str = "There is nothing here.",
) -> Row | None:
    """The chosen row of a list that stays up to date; None if the list was closed."""
    chosen = await context.push(ListScreen(title, columns, source, actions, empty=empty, feed=context.feed.listen))
    return chosen.row if chosen is not None else None


async def confirm(context: "SlashContext", question: str, detail: str, yes: str) -> bool:
    """No is the default."""
    rows = [Row("no", ("No",), detail), Row("yes", (yes,), detail)]
    return await pick(context, question, rows) == "yes"


async def may_leave(context: "SlashContext") -> bool:
    """Whether the session may be closed: what runs in it is stopped, unless a server runs it."""
    loss = loss_by_leaving(context)
    return not loss or await confirm(context, "Leave this session?", loss, "Leave it")


def loss_by_leaving(context: "SlashContext") -> str:
    """In words; empty if nothing is stopped."""
    stopped = " and ".join(_stopped_by_leaving(context))
    if not stopped:
        return ""
    return f"{stopped[0].upper()}{stopped[1:]} would be stopped. Questions and queued messages are kept."


def _stopped_by_leaving(context: "SlashContext") -> list[str]:
    if not context.session or context.host.keeps_running:
        return []
    state = context.client.state
    pending = state.pending()
    works = any(isinstance(call, Executing) for call in pending) or (state.open_prompt is not None and not pending)
    background = sum(not one.outcome and not one.kept for one in state.background.values())
    stopped = ["the running turn"] if works else []
    return [*stopped, count(background, "background command")] if background else stopped


def diff_lines(diff: str) -> Content:
    """A diff in colours, safe to show."""
    style = {"+": "$text-success", "-": "$text-error", "@": "dim"}
    return Content("\n").join(
        Content.styled(line, style.get(line[:1], "")) for line in safe(diff).splitlines() if not line.startswith("\\")
    )


def still(rows: Sequence[Row]) -> Callable[[], Awaitable[Sequence[Row]]]:
    """A source of rows that do not change."""

    async def source() -> Sequence[Row]:
        return rows

    return source


def when(ts: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ts))


def short_when(ts: float, now: float | None = None) -> str:
    """For columns: the time of today, and the day of what is older."""
    then, today = time.localtime(ts), time.localtime(now)
    days = _day_number(today) - _day_number(then)
    if days == 0:
        return time.strftime("%H:%M", then)
    if days == 1:
        return "yesterday"
    return f"{then.tm_mday} {time.strftime('%b', then)}" + ("" if then.tm_year == today.tm_year else f" {then.tm_year}")


def _day_number(day: time.struct_time) -> int:
    return date(day.tm_year, day.tm_mon, day.tm_mday).toordinal()


def size(count: int) -> str:
    return f"{count:,} B" if count < 10_000 else f"{count / 1000:,.0f} kB"
