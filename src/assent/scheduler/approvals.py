"""Approvals as records: what is asked, which answers are offered, and what an answer changes.

Nothing here waits: a question is an event in the log, and so is its answer.
"""

import os
from collections.abc import Callable

from msgspec.structs import replace

from assent.approval import (
    Approval,
    AskDetails,
    Decision,
    Details,
    EditDetails,
    ExecDetails,
    Grant,
    McpDetails,
    Outcome,
    UnapprovedFile,
)
from assent.commands import Answer
from assent.hunks import BadHunks, accept
from assent.parts import JsonObject
from assent.policy.action import Action
from assent.policy.grants import NOTHING, Offered, whole_server, whole_tool
from assent.scheduler.call import AwaitingApproval, ToolCall, status
from assent.scheduler.digest import action_digest
from assent.scheduler.refusals import NotWaiting, Refused
from assent.tools.tool import Invocation
from assent.trial import Trial

Clock = Callable[[], float]


def make_approval(
    session: str,
    call_id: str,
    action: Action,
    invocation: Invocation,
    why: str,
    expires_at: float | None,
    unapproved: tuple[UnapprovedFile, ...] = (),
    *,
    offered: Offered = NOTHING,
    untried: str | None = None,
) -> Approval:
    """The question for an action that needs approval. `action.details` says what would happen, and `untried` why it
    cannot be tried first: empty if it can, None if there is nothing to try. `offered` may always be allowed.
    """
    if action.details is None:
        raise ValueError(f"{action.tool} says that it needs no approval")
    if trial_of(action.details) is not None:
        offered = NOTHING
    return Approval(
        id=os.urandom(12).hex(),
        digest=action_digest(session, call_id, action.tool, action.args, action.details),
        details=action.details,
        options=_options(action, invocation, always=bool(offered.scopes), tries=untried == ""),
        why=why,
        scopes=offered.scopes,
        no_always=offered.why_none,
        unapproved=unapproved,
        expires_at=expires_at,
        tool=action.tool,
        untried=untried or "",
    )


def trial_of(details: Details | None) -> Trial | None:
    return details.trial if isinstance(details, ExecDetails) else None


def _options(action: Action, invocation: Invocation, *, always: bool, tries: bool) -> tuple[Outcome, ...]:
    if (trial := trial_of(action.details)) is not None:
        return _options_after(trial, tries=tries)
    offered = list[Outcome](("proceed_once",))
    if always:
        offered.append("proceed_always")
    if isinstance(action.details, McpDetails):
        offered.extend(("proceed_always_server", "proceed_always_tool"))
    if invocation.modifiable() is not None:
        offered.append("modify_with_editor")
    if tries:
        offered.append("try_first")
    return (*offered, "cancel")


def _options_after(trial: Trial, *, tries: bool) -> tuple[Outcome, ...]:
    """What is outdated cannot be applied."""
    offered = list[Outcome](() if trial.stale else ("proceed_once",))
    if tries:
        offered.append("try_first")
    return (*offered, "run_directly", "cancel")


def check_answer(call: ToolCall, answer: Answer) -> Approval:
    """The approval that this answer may settle; raises with the reason if there is none."""
    if not isinstance(call, AwaitingApproval):
        raise NotWaiting(f"call {answer.call_id} is not waiting for an answer: it is {status(call)}")
    if call.answered_by:
        raise NotWaiting(f"call {answer.call_id} was already answered by {call.answered_by}")
    approval = call.approval
    if answer.outcome == "cancel":
        return approval  # a no needs no digest: nothing happens
    if call.tried_by is not None:
        raise Refused("it is being tried; wait until it shows what it did, or say no")
    if answer.digest != approval.digest:
        raise Refused("the action has changed since it was shown to you; look at it again before you answer")
    if isinstance(approval.details, AskDetails):
        _check_answers(len(approval.details.questions), answer)
    changes_arguments = answer.outcome == "modify_with_editor" and answer.args is not None  # possible with any call
    if answer.outcome not in approval.options and not changes_arguments:
        why = f" ({approval.no_always})" if answer.outcome == "proceed_always" and approval.no_always else ""
        raise Refused(f"{answer.outcome} is not offered here{why}; choose one of: {', '.join(approval.options)}")
    return approval


def _check_answers(questions: int, answer: Answer) -> None:
    if len(answer.answers or ()) != questions:
        if questions == 1:
            raise Refused("the model asks 1 question here; give 1 answer, or cancel")
        raise Refused(f"the model asks {questions} questions here; give {questions} answers, or cancel")


def edited_args(invocation: Invocation, answer: Answer, approval: Approval) -> JsonObject | None:
    """The arguments that the answer substitutes for the model's; None if it keeps them."""
    parts = None if trial_of(approval.details) is not None else answer.hunks
    content = answer.content if parts is None else _accepted(approval, parts)
    if content is None:
        return answer.args
    modifiable = invocation.modifiable()
    if modifiable is None:
        raise Refused("this call has no content to edit; send new arguments instead")
    return modifiable.args_for(content)


def _accepted(approval: Approval, chosen: tuple[int, ...]) -> str:
    """The file with only these hunks of the shown diff applied."""
    details = approval.details
    if not isinstance(details, EditDetails):
        raise Refused("only a file change has hunks to choose from")
    try:
        return accept(details.old or "", details.new, details.diff, chosen)
    except BadHunks as error:
        raise Refused(str(error)) from error


def person_decision(answer: Answer, digest: str, *, edited: bool) -> Decision:
    reason = "approved with changes" if edited else "approved"
    return Decision(source="person", reason=reason, by=answer.by, outcome=answer.outcome, edited=edited, digest=digest)


def grant_for(answer: Answer, approval: Approval, action: Action, now: float) -> Grant | None:
    """What the answer grants beyond this call, with its limits."""
    match answer.outcome:
        case "proceed_always":
            grant = _chosen(answer, approval)
        case "proceed_always_server":
            grant = whole_server(action, answer.call_id)
        case "proceed_always_tool":
            grant = whole_tool(action, answer.call_id)
        case _:
            return None
    if answer.grant_uses is not None and grant.lasts != "session":
        raise Refused("uses are counted in one session; choose a scope for this session, or limit the time")
    expires = None if answer.grant_seconds is None else now + answer.grant_seconds
    return replace(grant, by=answer.by, expires_at=expires, max_uses=answer.grant_uses)


def _chosen(answer: Answer, approval: Approval) -> Grant:
    """The scope that the answer names; the narrowest if it names none."""
    scopes = {scope.id: scope for scope in approval.scopes}
    if not answer.scope:
        return approval.scopes[0]
    if answer.scope not in scopes:
        raise Refused(f"there is no scope {answer.scope!r} here; choose one of: {', '.join(scopes)}")
    return scopes[answer.scope]
