"""The answer to a question, from the request to the session's own word on it.

An answer is bound to its session, its call and what was shown; the first one wins. It is durable before it is reported.
"""

import time
from typing import NoReturn

import msgspec
from litestar import Response, post
from litestar.params import JSONBody

from assent.app.call_states import AwaitingApproval
from assent.approval import Outcome
from assent.commands import Answer, Command
from assent.front.web.access_tokens import Principal
from assent.front.web.api_types import Decided, Taken
from assent.front.web.app_state import AppState
from assent.front.web.command_gateway import Caller
from assent.front.web.params import CallId, SessionId, TheAppState, TheCaller
from assent.front.web.problems import Problem

ONE_TIME_OUTCOMES: tuple[Outcome, ...] = ("proceed_once", "try_first", "run_directly", "cancel")
"""What an approver may answer; the other outcomes give standing permission or change what runs."""


@post("/sessions/{session_id:str}/calls/{call_id:str}/decision", status_code=200, opt={"role": "approver"})
async def decide(
    app_state: TheAppState, caller: TheCaller, session_id: SessionId, call_id: CallId, data: JSONBody[Decided]
) -> Response[Taken]:
    """Answers a waiting call. The digest says what was seen; if it has changed, the answer is refused."""
    await app_state.gateway.find(caller, session_id)
    given = msgspec.structs.asdict(data)
    taken = await _send(app_state, caller, session_id, Answer(call_id=call_id, by=caller.by, **given))
    return Response(taken, status_code=200 if taken.state == "taken" else 202)


async def _send(app_state: AppState, caller: Caller, session: str, answer: Answer) -> Taken:
    gateway = app_state.gateway
    _check_role(caller.principal, answer)
    key = gateway.inbox_key(caller, f"decide {session}/{answer.call_id}", msgspec.structs.replace(answer, by=""))
    again = await gateway.done_before(key) is not None
    if not again:
        await _check_waiting(app_state, session, answer)
    started = time.monotonic()
    with app_state.answer_priority.answering():
        sent = await gateway.sender.send(session, answer, key.name, key.stamp)
    if sent.state == "refused":
        await _explain(app_state, session, answer, sent.problem)
    taken = Taken("taken" if sent.state == "taken" else "recorded", key.name)
    app_state.traffic.decided(taken.state, time.monotonic() - started, fresh=not again)
    log_decision(app_state, caller, session, answer, taken.state)
    return taken


def log_decision(app_state: AppState, caller: Caller, session: str, answer: Answer, state: str) -> None:
    app_state.server_log.info(
        "decision",
        request_id=caller.request_id,
        session=session,
        call=answer.call_id,
        outcome=answer.outcome,
        digest=answer.digest,
        by=caller.by,
        token=caller.principal.token_id,
        state=state,
    )


# --- what is refused ---


def check_command(principal: Principal, command: Command) -> None:
    if isinstance(command, Answer):
        _check_role(principal, command)
    elif not principal.may("operator"):
        raise Problem("forbidden", f"this needs the role operator; yours is {principal.role}")


def _check_role(principal: Principal, answer: Answer) -> None:
    edits = answer.content is not None or answer.args is not None
    if (answer.outcome not in ONE_TIME_OUTCOMES or edits) and not principal.may("operator"):
        raise Problem("forbidden", "your role may only approve once or refuse; anything more needs an operator")


async def _check_waiting(app_state: AppState, session: str, answer: Answer) -> None:
    """Uses only the index while the call is waiting, so that parked sessions need not be read."""
    waiting = await app_state.log.waiting_call(session, answer.call_id)
    if waiting is None:
        await _not_waiting(app_state, session, answer.call_id)
    elif answer.outcome != "cancel" and answer.digest != waiting.approval.digest:
        raise _digest_differs(waiting.approval.digest)


async def _not_waiting(app_state: AppState, session: str, call_id: str) -> NoReturn:
    state = await app_state.states.get(session)
    by = state.answered_by.get(call_id)
    if call_id not in state.calls:
        raise Problem("not-found", f"there is no call {call_id} in this session")
    if by is not None:
        raise Problem("already-decided", f"already answered by {by or 'someone'}", by=by)
    raise Problem("gone", f"call {call_id} is no longer waiting for an answer")


async def _explain(app_state: AppState, session: str, answer: Answer, problem: str) -> NoReturn:
    """Why the session did not take it, according to its current state."""
    state = await app_state.states.get(session)
    call = state.calls.get(answer.call_id)
    if not isinstance(call, AwaitingApproval) or call.answered_by:
        await _not_waiting(app_state, session, answer.call_id)
    if answer.outcome != "cancel" and answer.digest != call.approval.digest:
        raise _digest_differs(call.approval.digest)
    raise Problem("refused", problem)


def _digest_differs(digest: str) -> Problem:
    return Problem("digest-differs", "the request has changed; review it again before you answer", digest=digest)


ROUTES = (decide,)
