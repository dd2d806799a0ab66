"""Commands that change what was: the conversation made shorter, a file put back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.commands import Compress
from assent.events import CallFinished
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.command import SlashCommand
from assent.front.tui.slash.words import carry_out, choose, named, quoted, when

if TYPE_CHECKING:
    from assent.front.tui.slash.desk import Desk


async def compress(desk: "Desk", argument: str) -> None:
    await carry_out(desk, Compress(by=desk.client.me))


async def undo(desk: "Desk", argument: str) -> None:
    if argument:
        await _take_back(desk, argument)
        return

    async def source() -> Sequence[Row]:
        return _changes(desk)

    columns = (Column("File"), Column("By"), Column("When"))
    empty = "No call of this session changed a file."
    if chosen := await choose(desk, "Take back a change", columns, source, [Action("enter", "take back")], empty):
        await _take_back(desk, chosen.key)


def _changes(desk: "Desk") -> list[Row]:
    """The newest first."""
    state = desk.client.state
    return [
        Row(
            call_id,
            (state.changes[call_id].path, state.calls[call_id].request.tool, when(state.calls[call_id].started_at)),
            f"call {call_id}",
        )
        for call_id in reversed(state.undoable())
    ]


async def _take_back(desk: "Desk", call_id: str) -> None:
    from assent.app.command_sender import run
    from assent.app.person_calls import undo_command

    state = desk.client.state
    if call_id not in state.undoable():
        desk.complain(f"There is no change of call {named(call_id)} to take back. /undo lists what there is.")
        return
    path = state.changes[call_id].path
    match await run(desk.client, desk.news.outcomes, undo_command(call_id, desk.client.me)):
        case str(problem):
            desk.complain(f"Not taken back: {problem}")
        case CallFinished(status="success"):
            desk.say(f"Taken back: {quoted(path)}")
        case failed:
            desk.complain(f"Not taken back: {failed.result.response.get('error', failed.status)}")


async def complete_undo(desk: "Desk", argument: str) -> Sequence[Candidate]:
    return [Candidate(row.key, named(row.cells[0])) for row in _changes(desk)]


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
