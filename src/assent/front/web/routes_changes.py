"""Changes to the past: file changes that a person can undo, and compressing the conversation."""

from litestar import Response, get, post

from assent.app.person_calls import undo_command
from assent.commands import Compress, person_call_id
from assent.front.web.api_types import ChangeList, ChangeView, Taken, Undoing
from assent.front.web.params import CallId, SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem

OPERATOR = {"role": "operator"}


@get("/sessions/{session_id:str}/changes")
async def changes(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> ChangeList:
    """Changes made by calls and not undone yet, newest first. Whether the file has changed since is not known."""
    await app_state.gateway.find(caller, session_id)
    state = await app_state.states.get(session_id)
    calls = [(state.calls[call_id], state.changes[call_id]) for call_id in reversed(state.undoable())]
    views = (ChangeView(c.request.call_id, change.path, c.request.tool, c.started_at) for c, change in calls)
    return ChangeList(tuple(views))


@post("/sessions/{session_id:str}/calls/{call_id:str}/undo", status_code=202, opt=OPERATOR)
async def undo(app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId) -> Undoing:
    """Undoes what the call wrote, as a call of its own, whose `call.finished` tells the outcome."""
    await app_state.gateway.find(caller, session_id)
    if call_id not in (await app_state.states.get(session_id)).changes:
        raise Problem("not-found", f"call {call_id} wrote no file in this session")
    key = app_state.gateway.inbox_key(caller, f"undo {session_id}", call_id)
    await app_state.gateway.record(session_id, key, undo_command(call_id, caller.by))
    return Undoing(key.name, person_call_id(key.name))


@post("/sessions/{session_id:str}/compress", status_code=200, opt=OPERATOR)
async def compress(app_state: TheAppState, caller: TheCaller, session_id: SessionId) -> Response[Taken]:
    """Replaces the older part of the conversation with a summary; during a turn it is recorded and done afterwards."""
    await app_state.gateway.find(caller, session_id)
    key, command = app_state.gateway.inbox_key(caller, f"compress {session_id}", None), Compress(by=caller.by)
    if (await app_state.states.get(session_id)).open_prompt is not None:
        await app_state.gateway.record(session_id, key, command)
        return Response(Taken("recorded", key.name), status_code=202)
    taken = await app_state.gateway.send(session_id, key, command)
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


ROUTES = (changes, undo, compress)
