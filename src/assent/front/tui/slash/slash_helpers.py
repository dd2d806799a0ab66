"""Small things that many commands do: send and hear the outcome, ask once more, find one of many, write safely."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from assent.app.command_sender import Closed, send
from assent.app.session_log import LogError
from assent.app.wording import safe
from assent.client.api import ApiProblem
from assent.front.tui.host import NotHere
from assent.front.tui.lists import Action, Column, ListScreen, Row

if TYPE_CHECKING:
    from assent.commands import Command
    from assent.front.tui.slash.slash_context import SlashContext

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|~!&-])")


def quoted(text: str) -> str:
    """Foreign text inside a note: one line, safe to show, and no markup."""
    return _MARKDOWN.sub(r"\\\1", safe(text, "label"))


def named(text: str) -> str:
    """A name inside a plain sentence."""
    return safe(text, "label")


async def carry_out(context: "SlashContext", command: "Command") -> bool:
    """Sends it and waits until it was taken; says what is wrong when it was refused.

    What it changes is told by the event of the change, in the transcript of everybody who looks.
    """
    problem = await send(context.client, context.feed.outcomes, command)
    if problem:
        context.complain(f"Not done: {problem.rstrip('.')}.")
    return not problem


TROUBLES = (NotHere, LogError, Closed, ApiProblem, OSError)
"""What may go wrong on the way to a session or a host; its words are for the person."""


def action(context: "SlashContext", key: str, label: str, run: Callable[[Row], Awaitable[None]]) -> Action:
    """One that leaves the list open; what goes wrong is said, and the list stays."""

    async def guarded(row: Row) -> None:
        try:
            await run(row)
        except TROUBLES as error:
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
    """One of the rows' keys; None when the list was closed."""
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
    """A row of a list that follows what happens meanwhile; None when the list was closed."""
    chosen = await context.push(ListScreen(title, columns, source, actions, empty=empty, feed=context.feed.listen))
    return chosen.row if chosen is not None else None


async def confirm(context: "SlashContext", question: str, detail: str, yes: str) -> bool:
    """No is what Enter does at once."""
    rows = [Row("no", ("No",), detail), Row("yes", (yes,), detail)]
    return await pick(context, question, rows) == "yes"


def still(rows: Sequence[Row]) -> Callable[[], Awaitable[Sequence[Row]]]:
    """A source of rows that do not change."""

    async def source() -> Sequence[Row]:
        return rows

    return source


def when(ts: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ts))


def size(count: int) -> str:
    return f"{count:,} B" if count < 10_000 else f"{count / 1000:,.0f} kB"
