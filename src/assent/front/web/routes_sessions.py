"""Sessions: make, list, look at, talk to, change, end."""

from typing import Annotated

import msgspec
from litestar import Response, delete, get, patch, post
from litestar.params import JSONBody, QueryParameter

from assent.commands import CancelTurn, Command, Rename, RevokeGrant, RunTool, SetMode, SetModel, Submit, Withdraw
from assent.events import to_wire
from assent.front.outputs import fork_with_outputs
from assent.front.web.desk import Desk, wanted_folder
from assent.front.web.office import Asker, InboxKey
from assent.front.web.params import Offset, SessionId, ShortId, TheAsker, TheDesk
from assent.front.web.problems import Problem
from assent.front.web.routes_calls import call_view
from assent.front.web.shapes import (
    Change,
    EventList,
    GrantList,
    GrantView,
    Key,
    NewSession,
    Reason,
    Said,
    SessionList,
    SessionView,
    Snapshot,
    Taken,
    ToolRun,
)
from assent.models.base import AuthFailed, ModelError
from assent.session.log import SessionBusy
from assent.session.runner import create_session

OPERATOR = {"role": "operator"}


def _taken(taken: Taken) -> Response[Taken]:
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


# --- making and finding ---


@post("/sessions", status_code=201, opt=OPERATOR)
async def create(desk: TheDesk, asker: TheAsker, data: JSONBody[NewSession]) -> SessionView:
    """Makes a session; with a prompt it begins at once."""
    key = desk.office.inbox_key(asker, "create", data)
    session = await desk.office.done_before(key) or await _create(desk, asker, data, key)
    if data.prompt:
        await desk.office.record(session, InboxKey("web-first"), Submit(data.prompt, by=asker.by))
    desk.overview.touch(asker.principal.owner)
    return await desk.office.view(await desk.log.info(session))


async def _create(desk: Desk, asker: Asker, data: NewSession, key: InboxKey) -> str:
    folder = wanted_folder(desk.setup, data.folder)
    model = data.model or desk.setup.model
    await _check_model(desk, model)
    mode, gate = data.mode or desk.setup.settings.approval_mode, data.gate or desk.setup.settings.gate
    owner, title = asker.principal.owner, data.title or ""
    return await create_session(
        desk.log, folder, model, mode, gate, owner=owner, title=title, by=asker.by, stamp=key.stamp
    )


async def _check_model(desk: Desk, name: str) -> None:
    try:
        await desk.opener.model(name).close()
    except AuthFailed as error:
        where = "It is the shell of `assent serve` that needs the key: set it there, and start the server again."
        raise Problem("invalid", f"{error}\n{where}") from error
    except ModelError as error:
        raise Problem("invalid", str(error)) from error


@get("/sessions")
async def list_sessions(
    desk: TheDesk,
    asker: TheAsker,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
    offset: Offset = 0,
    wanted: Annotated[str, QueryParameter(name="query", max_length=200)] = "",
) -> SessionList:
    """The newest first; with `query` those that have all its words in their title or folder."""
    revision = desk.overview.of(asker.principal.owner).sessions
    words = wanted.casefold().split()
    mine = [info for info in await desk.log.sessions() if info.owner == asker.principal.owner]
    mine = [info for info in mine if all(word in f"{info.title}\n{info.folder}".casefold() for word in words)]
    views = [await desk.office.view(info) for info in mine[offset : offset + limit]]
    return SessionList(revision, len(mine), tuple(views))


@get("/sessions/{session_id:str}")
async def snapshot(desk: TheDesk, asker: TheAsker, session_id: SessionId) -> Snapshot:
    info = await desk.office.find(asker, session_id)
    state = await desk.states.get(session_id)
    view = msgspec.structs.replace(await desk.office.view(info), seq=state.seq)
    calls = tuple(call_view(call) for call in state.pending())
    reply = desk.replies.so_far(session_id)
    return Snapshot(
        session=view,
        gate=state.gate,
        prompts=state.prompts,
        open_prompt=state.open_prompt,
        usage=state.usage,
        queued=state.queued,
        calls=calls,
        reply=reply,
    )


@post("/sessions/{session_id:str}/fork", status_code=201, opt=OPERATOR)
async def fork(desk: TheDesk, asker: TheAsker, session_id: SessionId) -> SessionView:
    await desk.office.find(asker, session_id)
    key = desk.office.inbox_key(asker, f"fork {session_id}", None)
    made = await desk.office.done_before(key)
    copy = made or await fork_with_outputs(desk.setup.env, desk.log, session_id, key.stamp)
    desk.engine.nudge(copy)
    desk.overview.touch(asker.principal.owner, approvals=True)
    return await desk.office.view(await desk.log.info(copy))


@post("/sessions/{session_id:str}/resume", status_code=200, opt=OPERATOR)
async def resume(desk: TheDesk, asker: TheAsker, session_id: SessionId) -> SessionView:
    """Opens it here: an unfinished turn goes on."""
    await desk.office.find(asker, session_id)
    await desk.office.open_here(session_id)
    return await desk.office.view(await desk.log.info(session_id))


@delete("/sessions/{session_id:str}", opt=OPERATOR)
async def remove(desk: TheDesk, asker: TheAsker, session_id: SessionId) -> None:
    await desk.office.find(asker, session_id)
    await desk.engine.cancel(session_id)
    try:
        await desk.log.delete(session_id)
    except SessionBusy as error:
        raise Problem("busy", str(error)) from error
    await desk.prompts.close(session_id)
    await desk.outputs.forget(session_id)
    desk.states.forget(session_id)
    desk.feeds.forget(session_id)
    desk.overview.touch(asker.principal.owner, approvals=True)


@patch("/sessions/{session_id:str}", status_code=200, opt=OPERATOR)
async def change(desk: TheDesk, asker: TheAsker, session_id: SessionId, data: JSONBody[Change]) -> Response[Taken]:
    """Each change is a command of its own; the first that is refused ends it."""
    await desk.office.find(asker, session_id)
    commands: list[Command] = []
    if data.title is not None:
        commands.append(Rename(data.title, by=asker.by))
    if data.mode is not None:
        commands.append(SetMode(data.mode, by=asker.by))
    if data.model is not None:
        await _check_model(desk, data.model)
        commands.append(SetModel(data.model, by=asker.by))
    if not commands:
        raise Problem("invalid", "say what to change: title, mode or model")
    key = desk.office.inbox_key(asker, f"change {session_id}", data)
    keys = [msgspec.structs.replace(key, name=f"{key.name}-{n}") for n in range(len(commands))]
    taken = [await desk.office.send(session_id, one, command) for one, command in zip(keys, commands, strict=True)]
    return _taken(taken[-1])


# --- talking ---


@post("/sessions/{session_id:str}/messages", status_code=202, opt=OPERATOR)
async def say(desk: TheDesk, asker: TheAsker, session_id: SessionId, data: JSONBody[Said]) -> Key:
    """Durable when this answers. While a turn runs it waits in the queue."""
    await desk.office.find(asker, session_id)
    if not data.text.strip():
        raise Problem("invalid", "a message needs words")
    key = desk.office.inbox_key(asker, f"say {session_id}", data)
    await desk.office.record(session_id, key, Submit(data.text, by=asker.by))
    return Key(key.name)


@post("/sessions/{session_id:str}/tools", status_code=202, opt=OPERATOR)
async def run_tool(desk: TheDesk, asker: TheAsker, session_id: SessionId, data: JSONBody[ToolRun]) -> Key:
    """A person runs a tool. What is denied stays denied; what would ask is not asked again of whoever sends it."""
    await desk.office.find(asker, session_id)
    key = desk.office.inbox_key(asker, f"tool {session_id}", data)
    await desk.office.record(session_id, key, RunTool(data.tool, data.args, by=asker.by))
    return Key(key.name)


@post("/sessions/{session_id:str}/commands", status_code=202, opt={"role": "approver"})
async def command(desk: TheDesk, asker: TheAsker, session_id: SessionId, data: JSONBody[Command]) -> Key:
    """Any command as the session knows it, for other clients of ours. Its outcome comes as `command.taken`."""
    await desk.office.find(asker, session_id)
    desk.office.check_command(asker.principal, data)
    signed = msgspec.structs.replace(data, by=asker.by)
    key = desk.office.inbox_key(asker, f"command {session_id}", msgspec.structs.replace(data, by=""))
    await desk.office.record(session_id, key, signed)
    return Key(key.name)


@delete("/sessions/{session_id:str}/queue/{key:str}", status_code=200, opt=OPERATOR)
async def withdraw(
    desk: TheDesk,
    asker: TheAsker,
    session_id: SessionId,
    key: ShortId,
) -> Response[Taken]:
    await desk.office.find(asker, session_id)
    sent = desk.office.inbox_key(asker, f"withdraw {session_id}", key)
    return _taken(await desk.office.send(session_id, sent, Withdraw(key, by=asker.by)))


@post("/sessions/{session_id:str}/cancel", status_code=200, opt=OPERATOR)
async def cancel(
    desk: TheDesk, asker: TheAsker, session_id: SessionId, data: JSONBody[Reason | None] = None
) -> Response[Taken]:
    """Cancels the turn; partial output and proposed changes stay in the record."""
    await desk.office.find(asker, session_id)
    data = data or Reason()
    key = desk.office.inbox_key(asker, f"cancel {session_id}", data)
    return _taken(await desk.office.send(session_id, key, CancelTurn(data.reason, by=asker.by)))


# --- looking closer ---


@get("/sessions/{session_id:str}/events")
async def events(
    desk: TheDesk,
    asker: TheAsker,
    session_id: SessionId,
    after: Offset = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=5_000)] = 1_000,
) -> Response[EventList]:
    """Durable events after that number."""
    info = await desk.office.find(asker, session_id)
    found = await desk.log.read(session_id, after, limit) if after < info.events else []
    seq = found[-1].seq if found else min(after, info.events)
    more = b"true" if seq < info.events else b"false"
    lines = b",".join(to_wire(envelope) for envelope in found)
    body = b'{"events":[' + lines + b'],"seq":%d,"more":%s}' % (seq, more)
    return Response(body, media_type="application/json")  # pyright: ignore[reportReturnType]


@get("/sessions/{session_id:str}/grants")
async def grants(desk: TheDesk, asker: TheAsker, session_id: SessionId) -> GrantList:
    await desk.office.find(asker, session_id)
    state = await desk.states.get(session_id)
    return GrantList(tuple(GrantView(g, state.grant_uses.get(g.id, 0)) for g in state.grants.values()))


@delete("/sessions/{session_id:str}/grants/{grant:str}", status_code=200, opt=OPERATOR)
async def revoke(
    desk: TheDesk,
    asker: TheAsker,
    session_id: SessionId,
    grant: ShortId,
) -> Response[Taken]:
    await desk.office.find(asker, session_id)
    if grant not in (await desk.states.get(session_id)).grants:
        raise Problem("not-found", f"there is no grant {grant} in this session")
    key = desk.office.inbox_key(asker, f"revoke {session_id}", grant)
    return _taken(await desk.office.send(session_id, key, RevokeGrant(grant, by=asker.by)))


ROUTES = (
    create,
    list_sessions,
    snapshot,
    fork,
    resume,
    remove,
    change,
    say,
    run_tool,
    command,
    withdraw,
    cancel,
    events,
    grants,
    revoke,
)
