"""The commands that run in the background of a session."""

from litestar import Response, get, post
from msgspec import Struct

from assent.app.session_state import BackgroundCommand
from assent.commands import StopBackground
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
    await app_state.gateway.find(caller, session_id)
    if call_id not in (await app_state.states.get(session_id)).background:
        raise Problem("not-found", f"call {call_id} started no background command in this session")
    key = app_state.gateway.inbox_key(caller, f"stop {session_id}", call_id)
    taken = await app_state.gateway.send(session_id, key, StopBackground(call_id, by=caller.by))
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


ROUTES = (background, stop_background)
