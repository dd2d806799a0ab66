"""The commands that run in the background of a session."""

from litestar import Response, get, post
from msgspec import Struct

from assent.app.session_state import BackgroundCommand
from assent.commands import KeepBackground, StopBackground
from assent.front.web.api_types import Taken
from assent.front.web.params import CallId, SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem


class BackgroundList(Struct, frozen=True):
    background: tuple[BackgroundCommand, ...]


@get("/sessions/{session_id:str}/background")
async def background(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> BackgroundList:
    """Also those that have ended: they have an `outcome`."""
    await app_state.gateway.find(caller, session_id)
    state = await app_state.states.get(session_id)
    return BackgroundList(tuple(state.background.values()))


@post("/sessions/{session_id:str}/background/{call_id:str}/stop", status_code=200, opt={"role": "operator"})
async def stop_background(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId
) -> Response[Taken]:
    return await _send(app_state, caller, session_id, "stop", StopBackground(call_id, by=caller.by))


@post("/sessions/{session_id:str}/background/{call_id:str}/keep", status_code=200, opt={"role": "operator"})
async def keep_background(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId
) -> Response[Taken]:
    """It goes on when the session ends."""
    return await _send(app_state, caller, session_id, "keep", KeepBackground(call_id, by=caller.by))


async def _send(
    app_state: TheAppState, caller: TheCaller, session: str, what: str, command: StopBackground | KeepBackground
) -> Response[Taken]:
    await app_state.gateway.find(caller, session)
    if command.call_id not in (await app_state.states.get(session)).background:
        raise Problem("not-found", f"call {command.call_id} started no background command in this session")
    key = app_state.gateway.inbox_key(caller, f"{what} {session}", command.call_id)
    taken = await app_state.gateway.send(session, key, command)
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


ROUTES = (background, stop_background, keep_background)
