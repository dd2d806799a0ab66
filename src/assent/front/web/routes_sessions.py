"""Sessions: create, list, show, prompt, change, delete."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from litestar import Response, delete, get, patch, post
from litestar.params import JSONBody, QueryParameter

from assent.app.model_access import AuthFailed, ModelError
from assent.app.opening import create_session
from assent.app.output_folders import fork_with_outputs
from assent.app.rule_sources import kept_grants
from assent.app.session_log import SessionBusy, SessionInfo, SessionLog, SessionPage
from assent.approval import Grant
from assent.commands import (
    Answer,
    Archive,
    CancelTurn,
    Command,
    Rename,
    RevokeGrant,
    RunTool,
    SetEffort,
    SetMode,
    SetModel,
    Submit,
    Withdraw,
)
from assent.events import to_wire
from assent.front.web.api_types import (
    Change,
    EventList,
    GrantList,
    GrantView,
    Key,
    NewSession,
    Said,
    SessionList,
    SessionView,
    Snapshot,
    Stop,
    Taken,
    ToolRun,
)
from assent.front.web.app_state import AppState, wanted_folder
from assent.front.web.command_gateway import Caller, InboxKey
from assent.front.web.model_rules import why_refused
from assent.front.web.params import Offset, SessionId, ShortId, TheAppState, TheCaller
from assent.front.web.problems import Problem
from assent.front.web.routes_calls import call_view
from assent.front.web.routes_decisions import check_command, log_decision

OPERATOR = {"role": "operator"}
ON_THE_SERVER = (
    "The key is needed where `assent serve` runs: log in there, or set it in its shell and restart the server."
)


def _taken(taken: Taken) -> Response[Taken]:
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


# --- creating and finding ---


@post("/sessions", status_code=201, opt=OPERATOR)
async def create(app_state: TheAppState, caller: TheCaller, data: JSONBody[NewSession]) -> SessionView:
    """Creates a session; with a prompt, its first turn starts at once."""
    key = app_state.gateway.inbox_key(caller, "create", data)
    session = await app_state.gateway.done_before(key) or await _create(app_state, caller, data, key)
    if data.prompt:
        await app_state.gateway.record(session, InboxKey("web-first"), Submit(data.prompt, by=caller.by))
    app_state.overview.touch(caller.principal.owner)
    return await app_state.gateway.view(await app_state.log.info(session))


async def _create(app_state: AppState, caller: Caller, data: NewSession, key: InboxKey) -> str:
    folder = wanted_folder(app_state.setup, data.folder)
    model = data.model or await _default_model(app_state)
    await _check_model(app_state, model)
    settings = app_state.settings
    return await create_session(
        app_state.log,
        folder,
        model,
        data.mode or settings.approval_mode,
        data.gate or settings.gate,
        owner=caller.principal.owner,
        title=data.title or "",
        by=caller.by,
        stamp=key.stamp,
        effort=data.effort or settings.effort,
    )


async def _default_model(app_state: AppState) -> str:
    try:
        return await app_state.models.choose()
    except ModelError as error:
        raise Problem("invalid", f"{error}\n{ON_THE_SERVER}") from error


async def _check_model(app_state: AppState, name: str) -> None:
    if why := why_refused(name, app_state.models, app_state.setup.models):
        raise Problem("invalid", why)
    try:
        await (await asyncio.to_thread(app_state.models.open, name)).close()
    except AuthFailed as error:
        raise Problem("invalid", f"{error}\n{ON_THE_SERVER}") from error
    except ModelError as error:
        raise Problem("invalid", str(error)) from error


@get("/sessions")
async def list_sessions(
    app_state: TheAppState,
    caller: TheCaller,
    limit: Annotated[int, QueryParameter(ge=1, le=500)] = 100,
    offset: Offset = 0,
    wanted: Annotated[str, QueryParameter(name="query", max_length=200)] = "",
    archived: Annotated[Literal["no", "only", "all"], QueryParameter()] = "no",
) -> SessionList:
    """Newest first; with `query`, those with all its words in their title or folder. Archived ones only if asked."""
    owner = caller.principal.owner
    revision = app_state.overview.of(owner).sessions
    which = {"no": False, "only": True, "all": None}[archived]
    words = wanted.casefold().split()
    page = await (
        _with_words(app_state.log, owner, words, which, slice(offset, offset + limit))
        if words
        else app_state.log.page(owner, limit, offset, archived=which)
    )
    views = [await app_state.gateway.view(info) for info in page.sessions]
    return SessionList(revision, page.total, tuple(views), page.archived)


async def _with_words(log: SessionLog, owner: str, words: list[str], archived: bool | None, part: slice) -> SessionPage:
    """Looks at all sessions of the owner: no index knows words in every language."""
    mine = await log.sessions(owner)
    found = [info for info in mine if archived is None or info.archived == archived]
    found = [info for info in found if all(word in f"{info.title}\n{info.folder}".casefold() for word in words)]
    return SessionPage(found[part], len(found), sum(info.archived for info in mine))


@get("/sessions/{session_id:str}")
async def snapshot(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> Snapshot:
    info = await app_state.gateway.find(caller, session_id)
    state = await app_state.states.get(session_id)
    view = msgspec.structs.replace(await app_state.gateway.view(info), seq=state.seq)
    calls = tuple(call_view(call) for call in state.pending())
    reply = app_state.replies.so_far(session_id)
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
async def fork(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> SessionView:
    await app_state.gateway.find(caller, session_id)
    key = app_state.gateway.inbox_key(caller, f"fork {session_id}", None)
    made = await app_state.gateway.done_before(key)
    copy = made or await fork_with_outputs(
        app_state.setup.env, app_state.log, session_id, key.stamp, by=caller.by, store=app_state.blobs
    )
    app_state.engine.nudge(copy)
    app_state.overview.touch(caller.principal.owner, approvals=True)
    return await app_state.gateway.view(await app_state.log.info(copy))


@post("/sessions/{session_id:str}/resume", status_code=200, opt=OPERATOR)
async def resume(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> SessionView:
    """Opens it here; an unfinished turn continues."""
    await app_state.gateway.find(caller, session_id)
    await app_state.gateway.open_here(session_id)
    return await app_state.gateway.view(await app_state.log.info(session_id))


@delete("/sessions/{session_id:str}", opt=OPERATOR)
async def remove(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> None:
    await app_state.gateway.find(caller, session_id)
    await app_state.engine.cancel(session_id)
    try:
        await app_state.log.delete(session_id, by=caller.by)
    except SessionBusy as error:
        raise Problem("busy", str(error)) from error
    await app_state.prompts.close(session_id)
    await app_state.outputs.forget(session_id)
    app_state.states.forget(session_id)
    app_state.feeds.forget(session_id)
    app_state.overview.touch(caller.principal.owner, approvals=True)


@patch("/sessions/{session_id:str}", status_code=200, opt=OPERATOR)
async def change(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[Change]
) -> Response[Taken]:
    """Each change is a command of its own; stops at the first that is refused."""
    await app_state.gateway.find(caller, session_id)
    commands: list[Command] = []
    if data.title is not None:
        commands.append(Rename(data.title, by=caller.by))
    if data.mode is not None:
        commands.append(SetMode(data.mode, by=caller.by))
    if data.model is not None:
        await _check_model(app_state, data.model)
        commands.append(SetModel(data.model, by=caller.by))
    if data.effort is not None:
        commands.append(SetEffort(None if data.effort == "default" else data.effort, by=caller.by))
    if data.archived is not None:
        commands.append(Archive(data.archived, by=caller.by))
    if not commands:
        raise Problem("invalid", "say what to change: title, mode, model, effort or archived")
    key = app_state.gateway.inbox_key(caller, f"change {session_id}", data)
    keys = [msgspec.structs.replace(key, name=f"{key.name}-{n}") for n in range(len(commands))]
    taken = [
        await app_state.gateway.send(session_id, one, command) for one, command in zip(keys, commands, strict=True)
    ]
    return _taken(taken[-1])


# --- prompts and commands ---


@post("/sessions/{session_id:str}/messages", status_code=202, opt=OPERATOR)
async def say(app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[Said]) -> Key:
    """The message is durable when this responds. While a turn is running, it waits in the queue."""
    await app_state.gateway.find(caller, session_id)
    if not data.text.strip():
        raise Problem("invalid", "the message is empty")
    key = app_state.gateway.inbox_key(caller, f"say {session_id}", data)
    await app_state.gateway.record(session_id, key, Submit(data.text, by=caller.by, steer=data.steer))
    return Key(key.name)


@post("/sessions/{session_id:str}/tools", status_code=202, opt=OPERATOR)
async def run_tool(app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[ToolRun]) -> Key:
    """A person runs a tool. Deny rules still apply; what would need approval is approved by sending it."""
    await app_state.gateway.find(caller, session_id)
    key = app_state.gateway.inbox_key(caller, f"tool {session_id}", data)
    await app_state.gateway.record(session_id, key, RunTool(data.tool, data.args, by=caller.by))
    return Key(key.name)


@post("/sessions/{session_id:str}/commands", status_code=202, opt={"role": "approver"})
async def command(app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[Command]) -> Key:
    """Any session command, for our own clients. Its outcome comes as `command.taken`."""
    await app_state.gateway.find(caller, session_id)
    check_command(caller.principal, data)
    if isinstance(data, SetModel) and (why := why_refused(data.model, app_state.models, app_state.setup.models)):
        raise Problem("invalid", why)
    signed = msgspec.structs.replace(data, by=caller.by)
    key = app_state.gateway.inbox_key(caller, f"command {session_id}", msgspec.structs.replace(data, by=""))
    await app_state.gateway.record(session_id, key, signed)
    if isinstance(data, Answer):
        log_decision(app_state, caller, session_id, data, "recorded")
    return Key(key.name)


@delete("/sessions/{session_id:str}/queue/{key:str}", status_code=200, opt=OPERATOR)
async def withdraw(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    key: ShortId,
) -> Response[Taken]:
    await app_state.gateway.find(caller, session_id)
    sent = app_state.gateway.inbox_key(caller, f"withdraw {session_id}", key)
    return _taken(await app_state.gateway.send(session_id, sent, Withdraw(key, by=caller.by)))


@post("/sessions/{session_id:str}/cancel", status_code=200, opt=OPERATOR)
async def cancel(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, data: JSONBody[Stop | None] = None
) -> Response[Taken]:
    """Cancels the turn; partial output and proposed changes stay in the log."""
    await app_state.gateway.find(caller, session_id)
    data = data or Stop()
    key = app_state.gateway.inbox_key(caller, f"cancel {session_id}", data)
    return _taken(await app_state.gateway.send(session_id, key, CancelTurn(data.reason, by=caller.by, hold=data.hold)))


# --- events and grants ---


@get("/sessions/{session_id:str}/events")
async def events(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    after: Offset = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=5_000)] = 1_000,
) -> Response[EventList]:
    """Durable events after a sequence number."""
    info = await app_state.gateway.find(caller, session_id)
    found = await app_state.log.read(session_id, after, limit) if after < info.events else []
    seq = found[-1].seq if found else min(after, info.events)
    more = b"true" if seq < info.events else b"false"
    lines = b",".join(to_wire(envelope) for envelope in found)
    body = b'{"events":[' + lines + b'],"seq":%d,"more":%s}' % (seq, more)
    return Response(body, media_type="application/json")  # pyright: ignore[reportReturnType]


@get("/sessions/{session_id:str}/grants")
async def grants(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> GrantList:
    """What is always allowed in this session, including what was allowed before it for later sessions."""
    info = await app_state.gateway.find(caller, session_id)
    state = await app_state.states.get(session_id)
    given = {grant.id: grant for grant in (*_standing(app_state, info), *state.grants.values())}
    return GrantList(tuple(GrantView(g, state.grant_uses.get(g.id, 0)) for g in given.values()))


def _standing(app_state: AppState, info: SessionInfo) -> Sequence[Grant]:
    """They belong to the user who runs the server, like the sessions in which they can be given."""
    return () if info.owner else kept_grants(app_state.setup.env, info.folder).standing()


@delete("/sessions/{session_id:str}/grants/{grant:str}", status_code=200, opt=OPERATOR)
async def revoke(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    grant: ShortId,
) -> Response[Taken]:
    info = await app_state.gateway.find(caller, session_id)
    given = (*_standing(app_state, info), *(await app_state.states.get(session_id)).grants.values())
    if grant not in {one.id for one in given}:
        raise Problem("not-found", f"there is no grant {grant} in this session")
    key = app_state.gateway.inbox_key(caller, f"revoke {session_id}", grant)
    return _taken(await app_state.gateway.send(session_id, key, RevokeGrant(grant, by=caller.by)))


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
