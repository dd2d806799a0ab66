"""`/tasks`: the commands that run in the background of the session: read, stop, keep."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.app.wording import span
from assent.commands import KeepBackground, RunTool, StopBackground
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import action, carry_out, choose

if TYPE_CHECKING:
    from assent.app.session_state import BackgroundCommand
    from assent.front.tui.slash.slash_context import SlashContext

_READ = "read_background_output"


async def tasks(context: "SlashContext", argument: str) -> None:
    async def source() -> Sequence[Row]:
        return [_row(one) for one in reversed(context.client.state.background.values())]

    async def stop(row: Row) -> None:
        await carry_out(context, StopBackground(row.key, by=context.client.me))

    async def keep(row: Row) -> None:
        await carry_out(context, KeepBackground(row.key, by=context.client.me))

    columns = (
        Column("Process", right=True, spare=2),
        Column("Command"),
        Column("State"),
        Column("Started", right=True, spare=1),
    )
    actions = [
        Action("enter", "show its output"),
        action(context, "d", "stop", stop),
        action(context, "k", "keep running", keep),
    ]
    empty = "No commands are running in the background of this session."
    if chosen := await choose(context, "Background commands", columns, source, actions, empty):
        pid = context.client.state.background[chosen.key].pid
        await carry_out(context, RunTool(_READ, {"pid": pid}, by=context.client.me))


def _row(one: "BackgroundCommand") -> Row:
    started = f"{span(max(0.0, time.time() - one.started_at))} ago"
    style = "" if one.outcome else "$success"
    state = one.outcome or ("running, kept" if one.kept else "running")
    return Row(one.call_id, (str(one.pid), one.command, state, started), one.command, style)


COMMANDS = (
    SlashCommand(
        name="tasks",
        help="List the commands that are running in the background: read, stop, keep",
        run=tasks,
        group="Session",
    ),
)
