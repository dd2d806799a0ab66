"""The calls of a session, and everything waiting for a person in all sessions."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from litestar import Response, get, post
from litestar.params import JSONBody, QueryParameter

from assent.app.call_states import AwaitingApproval, Failed, Success, ToolCall
from assent.app.question_text import exact_text, hidden_characters, tried
from assent.app.session_log import Waiting
from assent.app.trial_text import effect_notes, part_title
from assent.app.wording import safe
from assent.approval import Approval, Details, EditDetails
from assent.commands import CancelCall
from assent.front.web.api_types import (
    CallList,
    CallView,
    InputView,
    Output,
    Reason,
    Taken,
    TrialPart,
    Typed,
    WaitingList,
    WaitingView,
)
from assent.front.web.app_state import AppState
from assent.front.web.command_gateway import Caller
from assent.front.web.highlight import ShownHunk, highlighted, shown_hunks
from assent.front.web.params import CallId, Offset, SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem
from assent.parts import DiffDisplay
from assent.screen import SafeText
from assent.trial_parts import shown_parts

BATCH_SIZE = 20
"""Approvals prepared before giving other work a chance."""


def call_view(call: ToolCall) -> CallView:
    match call:
        case AwaitingApproval(approval=Approval(details=details)):
            shown = SafeText(safe(exact_text(details)), hidden_characters(details))
            return CallView(call, _hunks(details), shown, _parts(details))
        case Success(display=DiffDisplay() as change) | Failed(display=DiffDisplay() as change):
            return CallView(call, _hunks(change))
        case _:
            return CallView(call)


def _hunks(change: Details | DiffDisplay) -> tuple[ShownHunk, ...]:
    match change:
        case EditDetails() | DiffDisplay():
            return shown_hunks(change.diff, change.path)
        case _:
            return ()


def _parts(details: Details) -> tuple[TrialPart, ...]:
    trial = tried(details)
    if trial is None:
        return ()
    return tuple(
        TrialPart(part.number, part_title(part), tuple(effect_notes(part)), highlighted(part.hunks, part.effect.path))
        for part in shown_parts(trial)
    )


async def _find(app_state: AppState, caller: Caller, session: str, call_id: str) -> ToolCall:
    await app_state.gateway.find(caller, session)
    call = (await app_state.states.get(session)).calls.get(call_id)
    if call is None:
        raise Problem("not-found", f"there is no call {call_id} in this session")
    return call


@get("/sessions/{session_id:str}/calls")
async def list_calls(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    only: Annotated[Literal["open", "all"], QueryParameter(name="state")] = "open",
) -> CallList:
    await app_state.gateway.find(caller, session_id)
    state = await app_state.states.get(session_id)
    found = state.pending() if only == "open" else list(state.calls.values())
    return CallList(tuple(call_view(call) for call in found), state.seq)


@get("/sessions/{session_id:str}/calls/{call_id:str}")
async def show_call(app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId) -> CallView:
    return call_view(await _find(app_state, caller, session_id, call_id))


@get("/sessions/{session_id:str}/calls/{call_id:str}/output")
async def output(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    call_id: CallId,
    offset: Offset = 0,
    limit: Annotated[int, QueryParameter(ge=4, le=1_000_000)] = 65_536,
) -> Output:
    """The call's output, from a byte on. Of a running call, only the newest part is kept: see `offset`."""
    call = await _find(app_state, caller, session_id, call_id)
    return await app_state.outputs.piece(session_id, call, offset, limit)


@post("/sessions/{session_id:str}/calls/{call_id:str}/cancel", status_code=200, opt={"role": "operator"})
async def cancel_call(
    app_state: TheAppState,
    caller: TheCaller,
    session_id: SessionId,
    call_id: CallId,
    data: JSONBody[Reason | None] = None,
) -> Response[Taken]:
    await _find(app_state, caller, session_id, call_id)
    data = data or Reason()
    key = app_state.gateway.inbox_key(caller, f"cancel {session_id}/{call_id}", data)
    taken = await app_state.gateway.send(session_id, key, CancelCall(call_id, data.reason, by=caller.by))
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


@post("/sessions/{session_id:str}/calls/{call_id:str}/input", status_code=204, opt={"role": "operator"})
async def type_in(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId, data: JSONBody[Typed]
) -> None:
    """Types a line for a prompt of a running command. It is recorded nowhere; a null is the end of its input."""
    await app_state.gateway.find(caller, session_id)
    await app_state.gateway.type_in(session_id, call_id, data.number, data.text)


@get("/approvals")
async def approvals(
    app_state: TheAppState,
    caller: TheCaller,
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> WaitingList:
    """Everything waiting for a person in all sessions, oldest first."""
    owner = caller.principal.owner
    revision = app_state.overview.of(owner).approvals
    waiting = await app_state.log.waiting(owner, limit, offset)
    total = (await app_state.log.count_waiting(owner)).get(owner, 0)
    views = tuple([view async for view in _waiting_views(app_state, waiting)])
    return WaitingList(revision, total, views, await _input_views(app_state, owner))


async def _waiting_views(app_state: AppState, waiting: list[Waiting]) -> AsyncIterator[WaitingView]:
    """A long list with long changes takes a while; other requests continue in the meantime."""
    sessions = await app_state.log.infos({item.session for item in waiting})
    for place, item in enumerate(waiting):
        if place % BATCH_SIZE == BATCH_SIZE - 1:
            await asyncio.sleep(0)
        if info := sessions.get(item.session):  # otherwise it was deleted just now
            view = await app_state.gateway.view(info)
            yield WaitingView(view, item.call_id, item.asked_at, item.approval, _hunks(item.approval.details))


async def _input_views(app_state: AppState, owner: str) -> tuple[InputView, ...]:
    return tuple(
        [
            InputView(await app_state.gateway.view(waiting.session), waiting.call_id, waiting.since)
            for waiting in await app_state.inputs.all()
            if waiting.session.owner == owner
        ]
    )


ROUTES = (list_calls, show_call, output, cancel_call, type_in, approvals)
