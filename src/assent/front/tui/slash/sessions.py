"""Commands about sessions: another one, a new one, its name, a fork of it, and what waits in its queue."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.app.wording import who
from assent.commands import Rename, Withdraw
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.pages import LineScreen
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.command import SlashCommand
from assent.front.tui.slash.words import action, carry_out, choose, named, quoted, when

if TYPE_CHECKING:
    from assent.app.session_log import SessionInfo
    from assent.front.tui.slash.desk import Desk


async def clear(desk: "Desk", argument: str) -> None:
    before = desk.session if desk.session and desk.client.state.begun else ""
    await desk.switch(None)
    desk.clear()
    desk.say("A new session." + (f" The one before stays as it was: `/resume {before}`" if before else ""))


async def sessions(desk: "Desk", argument: str) -> None:
    if argument:
        await resume(desk, argument)
        return

    async def rename(row: Row) -> None:
        await _rename_row(desk, row)

    async def fork_row(row: Row) -> None:
        copy = await desk.host.fork(row.key)
        desk.say(f"Forked {quoted(row.cells[1] or row.key)}: `/resume {copy}`")

    async def source() -> Sequence[Row]:
        return [_row(info, desk.session) for info in await desk.host.sessions()]

    columns = (Column(""), Column("Title"), Column("Folder"), Column("Last used"), Column("Events", right=True))
    actions = [Action("enter", "open"), action(desk, "f", "fork", fork_row), action(desk, "r", "rename", rename)]
    if chosen := await choose(desk, "Sessions", columns, source, actions):
        await _open(desk, chosen.key)


def _row(info: "SessionInfo", current: str) -> Row:
    mark = "●" if info.id == current else ""
    cells = (mark, info.title or "(nothing asked yet)", info.folder, when(info.updated_at), f"{info.events:,}")
    return Row(info.id, cells, f"{info.id}  {info.model}  begun {when(info.created_at)}")


async def _rename_row(desk: "Desk", row: Row) -> None:
    if row.key != desk.session:
        desk.complain("Only the session that is open can be renamed: open it first.")
    elif title := await desk.push(LineScreen("A name for this session", row.cells[1])):
        await carry_out(desk, Rename(title, by=desk.client.me))


async def _open(desk: "Desk", session: str) -> None:
    if session == desk.session:
        desk.say("This is the session that is open.")
    else:
        await desk.switch(session)


async def resume(desk: "Desk", argument: str) -> None:
    if not argument:
        await sessions(desk, "")
        return
    known = await desk.host.sessions()
    others = [info for info in known if info.id != desk.session]
    found = others[:1] if argument == "latest" else [info for info in known if info.id.startswith(argument)]
    match found:
        case [info]:
            await _open(desk, info.id)
        case []:
            desk.complain(f"There is no session {named(argument)}. /sessions shows those there are.")
        case _:
            desk.complain(f"{len(found)} sessions begin with {named(argument)}: write more of the id.")


async def complete_session(desk: "Desk", argument: str) -> Sequence[Candidate]:
    latest = Candidate("latest", "the newest besides this one")
    listed = [Candidate(info.id, named(info.title)) for info in await desk.host.sessions()]
    return [latest, *listed]


async def rename(desk: "Desk", argument: str) -> None:
    title = argument or await desk.push(LineScreen("A name for this session", desk.client.state.title))
    if title:
        await carry_out(desk, Rename(title, by=desk.client.me))


async def fork(desk: "Desk", argument: str) -> None:
    if not desk.client.state.begun:
        desk.complain("Nothing was said here yet, so there is nothing to fork.")
        return
    before = desk.client.state.session
    copy = await desk.host.fork(before)
    await desk.switch(copy)
    desk.say(f"This is a fork. The one it was made of stays as it was: `/resume {before}`")


async def queue(desk: "Desk", argument: str) -> None:
    async def source() -> Sequence[Row]:
        waiting = desk.client.state.queued
        return [
            Row(q.key, (str(n), q.tool, q.text, who(q.by, desk.client.me)), q.text)
            for n, q in enumerate(waiting, start=1)
        ]

    async def withdraw(row: Row) -> None:
        await carry_out(desk, Withdraw(row.key, by=desk.client.me))

    columns = (Column("", right=True), Column("Tool"), Column("Text"), Column("By"))
    actions = [Action("enter", "take back and edit"), action(desk, "d", "take back", withdraw)]
    empty = "Nothing waits. What you send while a turn runs waits here for its end."
    chosen = await choose(desk, "Queue", columns, source, actions, empty)
    if chosen is not None and await carry_out(desk, Withdraw(chosen.key, by=desk.client.me)):
        prefix = "!" if chosen.cells[1] else ""
        desk.put_into_prompt(prefix + chosen.detail)


COMMANDS = (
    SlashCommand(
        name="clear", help="Begins a new session; this one can be resumed", run=clear, group="Session", aliases=("new",)
    ),
    SlashCommand(
        name="sessions",
        help="Lists all sessions: open, fork, rename",
        run=sessions,
        group="Session",
        complete=complete_session,
    ),
    SlashCommand(
        name="resume",
        help="Opens another session",
        run=resume,
        group="Session",
        usage="[ID | latest]",
        complete=complete_session,
    ),
    SlashCommand(name="rename", help="Gives this session a name", run=rename, group="Session", usage="[TITLE]"),
    SlashCommand(name="fork", help="Goes on in a copy of this session", run=fork, group="Session"),
    SlashCommand(name="queue", help="Lists what waits for the turn's end: take back, edit", run=queue, group="Session"),
)
