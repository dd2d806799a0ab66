"""Commands about sessions: open, create, rename and fork them, and list their queue."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from assent.app.wording import who
from assent.commands import Archive, Rename, Withdraw
from assent.front.tui.bars import short_path
from assent.front.tui.host import Choices
from assent.front.tui.lists import Action, Chosen, Column, ListScreen, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import (
    action,
    carry_out,
    choose,
    confirm,
    may_leave,
    named,
    quoted,
    short_when,
    still,
    when,
)
from assent.front.tui.small_screens import LineScreen

if TYPE_CHECKING:
    from assent.app.session_log import SessionInfo
    from assent.front.tui.slash.slash_context import SlashContext


async def clear(context: "SlashContext", argument: str) -> None:
    if not await may_leave(context):
        return
    if not context.session:
        await context.switch(None)
        return
    state = context.client.state
    mode = None if state.mode == "yolo" else state.mode  # that one is chosen for one session
    words = [
        "This is a new session.",
        *(["It is not in yolo mode: that is for one session."] if mode is None else []),
        *([f"To return to the previous one: `/resume {context.session}`"] if state.begun else []),
    ]
    await context.switch(None, Choices(mode, state.model, state.effort), " ".join(words))


async def sessions(context: "SlashContext", argument: str) -> None:
    if argument:
        await resume(context, argument)
        return

    async def source() -> Sequence[Row]:
        return [_row(info, context.session) for info in await context.host.sessions()]

    more = (Column("Questions", right=True, spare=1), Column("Folder", spare=3), Column("Last used", spare=2))
    columns = (Column(""), Column("Title"), *more, Column("Events", right=True, spare=4))
    screen = ListScreen("Sessions", columns, source, _session_actions(context), feed=context.feed.listen)
    match await context.push(screen):
        case Chosen(action="s"):
            await _search(context)
        case Chosen(row=row):
            await _open(context, row.key)
        case None:
            pass


def _session_actions(context: "SlashContext") -> list[Action]:
    async def fork_row(row: Row) -> None:
        copy = await context.host.fork(row.key)
        context.say(f"Forked {quoted(row.cells[1] or row.key)}: `/resume {copy}`")

    return [
        Action("enter", "open"),
        Action("s", "search what was said"),
        action(context, "f", "fork", fork_row),
        action(context, "r", "rename", partial(_rename_row, context)),
        action(context, "d", "delete", partial(_delete_row, context)),
    ]


async def _search(context: "SlashContext") -> None:
    wanted = await context.push(LineScreen("Search what was said in all sessions"))
    if not wanted:
        return
    found = await context.host.search(wanted)
    rows = [Row(one.info.id, (one.info.title, short_when(one.info.updated_at)), f"… {one.passage} …") for one in found]
    columns = (Column("Title"), Column("Last used", spare=1))
    empty = f"No session contains {named(wanted)!r}."
    screen = ListScreen(f"Sessions with {wanted!r}", columns, still(rows), [Action("enter", "open")], empty=empty)
    if chosen := await context.push(screen):
        await _open(context, chosen.row.key)


def _row(info: "SessionInfo", current: str) -> Row:
    elsewhere = info.held and info.id != current
    mark = "●" if info.id == current else "○" if elsewhere else ""
    waiting = f"{info.waiting}" if info.waiting else ""
    used, folder = info.updated_at, short_path(info.folder)
    cells = (mark, info.title or "(no prompt yet)", waiting, folder, short_when(used), f"{info.events:,}")
    place = "○ open in another process\n" if elsewhere else ""
    times = f"last used {when(used)} · started {when(info.created_at)}"
    return Row(info.id, cells, f"{place}{info.id} · {info.model}\n{times}\n{info.folder}")


async def _rename_row(context: "SlashContext", row: Row) -> None:
    title = await context.push(LineScreen("Name of this session", row.cells[1]))
    if title and row.key == context.session:
        await carry_out(context, Rename(title, by=context.client.me))
    elif title:
        await context.host.rename(row.key, title)


async def _delete_row(context: "SlashContext", row: Row) -> None:
    if row.key == context.session:
        context.complain("This session is open. Start a new one with /clear before you delete it.")
    elif await confirm(context, "Delete this session?", f"{row.cells[1]}: it cannot be restored.", "Delete it"):
        await context.host.delete(row.key)


async def _open(context: "SlashContext", session: str) -> None:
    if session == context.session:
        context.say("This session is already open.")
    elif await may_leave(context):
        await context.switch(session)


async def archive(context: "SlashContext", argument: str) -> None:
    if await carry_out(context, Archive(archived=True, by=context.client.me)):
        context.say("This session is archived: it is no longer listed. Your next message brings it back.")


async def resume(context: "SlashContext", argument: str) -> None:
    if not argument:
        await sessions(context, "")
        return
    known = await context.host.sessions()
    free = [info for info in known if info.id != context.session and not info.held]
    others = [info for info in free if info.folder == context.host.folder]
    found = others[:1] if argument == "latest" else [info for info in known if info.id.startswith(argument)]
    match found:
        case [info]:
            await _open(context, info.id)
        case []:
            context.complain(f"There is no session {named(argument)}. /sessions lists them.")
        case _:
            context.complain(f"{len(found)} sessions start with {named(argument)}; type more of the id.")


async def complete_session(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    latest = Candidate("latest", "the newest of this folder except this one and those that are open elsewhere")
    listed = [Candidate(info.id, named(info.title)) for info in await context.host.sessions()]
    return [latest, *listed]


async def rename(context: "SlashContext", argument: str) -> None:
    title = argument or await context.push(LineScreen("Name of this session", context.client.state.title))
    if title:
        await carry_out(context, Rename(title, by=context.client.me))


async def fork(context: "SlashContext", argument: str) -> None:
    if not context.client.state.begun:
        context.complain("There is nothing to fork: this session has no prompt yet.")
        return
    if not await may_leave(context):
        return
    before = context.client.state.session
    copy = await context.host.fork(before)
    await context.switch(copy)
    context.say(f"This is a fork. To return to the original: `/resume {before}`")


async def queue(context: "SlashContext", argument: str) -> None:
    async def source() -> Sequence[Row]:
        waiting = context.client.state.queued
        return [
            Row(q.key, (str(n), q.tool, q.text, who(q.by, context.client.me)), q.text)
            for n, q in enumerate(waiting, start=1)
        ]

    async def withdraw(row: Row) -> None:
        await carry_out(context, Withdraw(row.key, by=context.client.me))

    columns = (Column("", right=True), Column("Tool"), Column("Text"), Column("By", spare=1))
    actions = [Action("enter", "withdraw and edit"), action(context, "d", "withdraw", withdraw)]
    empty = "The queue is empty. What you send while a turn is running waits here until it is over."
    chosen = await choose(context, "Queue", columns, source, actions, empty)
    if chosen is not None and await carry_out(context, Withdraw(chosen.key, by=context.client.me)):
        prefix = "!" if chosen.cells[1] else ""
        context.put_into_prompt(prefix + chosen.detail)


COMMANDS = (
    SlashCommand(
        name="clear",
        help="Start a new session in the same mode, with the same model; this one can be resumed",
        run=clear,
        group="Session",
        aliases=("new",),
    ),
    SlashCommand(
        name="sessions",
        help="List all sessions: open, search, fork, rename, delete",
        run=sessions,
        group="Session",
        complete=complete_session,
    ),
    SlashCommand(
        name="resume",
        help="Open another session",
        run=resume,
        group="Session",
        usage="[ID | latest]",
        complete=complete_session,
    ),
    SlashCommand(name="rename", help="Rename this session", run=rename, group="Session", usage="[TITLE]"),
    SlashCommand(
        name="archive",
        help="Archive this session: hide it from the list; search still finds it",
        run=archive,
        group="Session",
    ),
    SlashCommand(name="fork", help="Continue in a copy of this session", run=fork, group="Session"),
    SlashCommand(
        name="queue", help="List what is queued until the turn is over: withdraw, edit", run=queue, group="Session"
    ),
)
