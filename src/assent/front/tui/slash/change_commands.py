"""Commands that change the past: compress the conversation, undo a file change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.commands import Compress
from assent.events import CallFinished
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import carry_out, choose, named, quoted, when

if TYPE_CHECKING:
    from assent.front.tui.slash.slash_context import SlashContext


async def compress(context: "SlashContext", argument: str) -> None:
    await carry_out(context, Compress(by=context.client.me))


async def undo(context: "SlashContext", argument: str) -> None:
    if argument:
        await _undo_change(context, argument)
        return

    async def source() -> Sequence[Row]:
        return _changes(context)

    columns = (Column("File"), Column("By"), Column("When"))
    empty = "No call of this session has changed a file."
    if chosen := await choose(context, "Undo a change", columns, source, [Action("enter", "undo")], empty):
        await _undo_change(context, chosen.key)


def _changes(context: "SlashContext") -> list[Row]:
    """Newest first."""
    state = context.client.state
    return [
        Row(
            call_id,
            (state.changes[call_id].path, state.calls[call_id].request.tool, when(state.calls[call_id].started_at)),
            f"call {call_id}",
        )
        for call_id in reversed(state.undoable())
    ]


async def _undo_change(context: "SlashContext", call_id: str) -> None:
    from assent.app.command_sender import run
    from assent.app.person_calls import undo_command

    state = context.client.state
    if call_id not in state.undoable():
        context.complain(f"Call {named(call_id)} has no change to undo. /undo lists the changes.")
        return
    path = state.changes[call_id].path
    match await run(context.client, context.feed.outcomes, undo_command(call_id, context.client.me)):
        case str(problem):
            context.complain(f"Not undone: {problem}")
        case CallFinished(status="success"):
            context.say(f"Undone: {quoted(path)}")
        case failed:
            context.complain(f"Not undone: {failed.result.response.get('error', failed.status)}")


async def complete_undo(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(row.key, named(row.cells[0])) for row in _changes(context)]


COMMANDS = (
    SlashCommand(
        name="compress",
        help="Replace the older conversation with a summary",
        run=compress,
        group="Session",
        aliases=("compact", "summarize"),
    ),
    SlashCommand(
        name="undo",
        help="Undo a call's file change",
        run=undo,
        group="Session",
        usage="[CALL]",
        complete=complete_undo,
    ),
)
