"""Commands that change what was: the conversation made shorter, a file put back."""

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
        await _take_back(context, argument)
        return

    async def source() -> Sequence[Row]:
        return _changes(context)

    columns = (Column("File"), Column("By"), Column("When"))
    empty = "No call of this session changed a file."
    if chosen := await choose(context, "Take back a change", columns, source, [Action("enter", "take back")], empty):
        await _take_back(context, chosen.key)


def _changes(context: "SlashContext") -> list[Row]:
    """The newest first."""
    state = context.client.state
    return [
        Row(
            call_id,
            (state.changes[call_id].path, state.calls[call_id].request.tool, when(state.calls[call_id].started_at)),
            f"call {call_id}",
        )
        for call_id in reversed(state.undoable())
    ]


async def _take_back(context: "SlashContext", call_id: str) -> None:
    from assent.app.command_sender import run
    from assent.app.person_calls import undo_command

    state = context.client.state
    if call_id not in state.undoable():
        context.complain(f"There is no change of call {named(call_id)} to take back. /undo lists what there is.")
        return
    path = state.changes[call_id].path
    match await run(context.client, context.feed.outcomes, undo_command(call_id, context.client.me)):
        case str(problem):
            context.complain(f"Not taken back: {problem}")
        case CallFinished(status="success"):
            context.say(f"Taken back: {quoted(path)}")
        case failed:
            context.complain(f"Not taken back: {failed.result.response.get('error', failed.status)}")


async def complete_undo(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(row.key, named(row.cells[0])) for row in _changes(context)]


COMMANDS = (
    SlashCommand(
        name="compress",
        help="Replaces the older conversation by a summary",
        run=compress,
        group="Session",
        aliases=("compact", "summarize"),
    ),
    SlashCommand(
        name="undo",
        help="Takes back what a call wrote",
        run=undo,
        group="Session",
        usage="[CALL]",
        complete=complete_undo,
    ),
)
