"""Commands about approvals: the rules and grants in force, and the waiting questions."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from textual.content import Content

from assent.app.wording import count, safe, span, who
from assent.approval import Approval, AskDetails, Details, EditDetails, ExecDetails, Grant, InfoDetails, McpDetails
from assent.commands import RevokeGrant
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import action, carry_out, choose, may_leave, when
from assent.front.tui.small_screens import PageScreen

if TYPE_CHECKING:
    from assent.app.call_states import AwaitingApproval
    from assent.front.tui.host import RuleInfo, WaitingQuestion
    from assent.front.tui.slash.slash_context import SlashContext

_STYLES = {"allow": "$success", "ask": "$warning", "deny": "$error", "grant": "$success"}
_LASTS = {
    "session": "until this session ends",
    "folder": "in this folder until it is revoked",
    "everywhere": "in every folder until it is revoked",
}


# --- policy ---


class _Standing(Struct, frozen=True):
    """A line of the list, with its explanation."""

    row: Row
    explanation: str
    grant: str = ""


async def policy(context: "SlashContext", argument: str) -> None:
    def standing() -> dict[str, _Standing]:
        state = context.client.state
        given = {grant.id: grant for grant in (*context.host.standing_grants(), *state.grants.values())}
        grants = [_grant(grant, state.grant_uses.get(grant.id, 0), context.client.me) for grant in given.values()]
        rules = [_rule(number, rule) for number, rule in enumerate(context.host.rules())]
        return {entry.row.key: entry for entry in (*grants, *rules)}

    async def source() -> Sequence[Row]:
        return [entry.row for entry in standing().values()]

    async def explain(row: Row) -> None:
        if entry := standing().get(row.key):
            await context.push(PageScreen("Why this applies", Content(safe(entry.explanation))))

    async def revoke(row: Row) -> None:
        entry = standing().get(row.key)
        if entry is None or not entry.grant:
            context.complain("Only grants can be revoked here; change a rule in the file that defines it.")
        else:
            await carry_out(context, RevokeGrant(entry.grant, by=context.client.me))

    columns = (Column("Does"), Column("What"), Column("From"))
    actions = [action(context, "enter", "explain", explain), action(context, "d", "revoke a grant", revoke)]
    empty = "No rules of your own and no grants. Reading in the folder is allowed; anything else needs approval."
    await choose(context, "Rules and grants", columns, source, actions, empty)


def _grant(grant: Grant, used: int, me: str) -> _Standing:
    uses = f"used {used} of {grant.max_uses} times" if grant.max_uses is not None else f"used {count(used, 'time')}"
    until = f"until {when(grant.expires_at)}" if grant.expires_at is not None else _LASTS[grant.lasts]
    by = who(grant.by, me)
    lines = (
        grant.reach,
        f"A grant: {by} gave it when answering call {grant.from_call}.",
        f"It applies {until}, and has been {uses} in this session.",
        "Deny rules still take precedence. Press d in the list to revoke it.",
    )
    row = Row(f"grant {grant.id}", ("grant", grant.reach, by), f"{uses}, {until}", _STYLES["grant"])
    return _Standing(row, "\n".join(lines), grant.id)


def _rule(number: int, rule: "RuleInfo") -> _Standing:
    meanings = {
        "allow": "What matches runs without approval, unless another rule asks or denies.",
        "ask": "What matches needs approval, unless another rule denies it.",
        "deny": "What matches never runs; no mode, grant or answer changes that.",
    }
    lines = (rule.text, meanings.get(rule.decision, rule.decision), f"Defined in {rule.source}.", rule.note)
    row = Row(f"rule {number}", (rule.decision, rule.text, rule.source), rule.note, _STYLES.get(rule.decision, ""))
    return _Standing(row, "\n".join(line for line in lines if line))


# --- approvals ---

_OF_CALL = "call "
"""Starts the key of a question of this session; the others have that of their session."""


async def approvals(context: "SlashContext", argument: str) -> None:
    async def source() -> Sequence[Row]:
        here = [call for call in context.client.state.waiting() if not call.answered_by]
        return [*map(_here, here), *await _elsewhere(context)]

    columns = (Column("Session"), Column("Would"), Column("Waiting", right=True, spare=2), Column("Risk", spare=1))
    actions = [Action("enter", "open the question")]
    empty = "Nothing is waiting for you in any session. /policy lists your rules and grants."
    chosen = await choose(context, "Waiting for you", columns, source, actions, empty)
    if chosen is not None and chosen.key.startswith(_OF_CALL):
        await context.answer_now(chosen.key.removeprefix(_OF_CALL))
    elif chosen is not None and await may_leave(context):
        await context.switch(chosen.key.partition(" ")[0])


def _here(call: "AwaitingApproval") -> Row:
    why = f"asked because: {call.approval.why}"
    return _waiting(_OF_CALL + call.request.call_id, "this one", call.started_at, call.approval, why)


async def _elsewhere(context: "SlashContext") -> list[Row]:
    me = context.client.me
    return [_other(one, me) for one in await context.host.waiting() if one.session != context.session]


def _other(one: "WaitingQuestion", me: str) -> Row:
    detail = f"{_how_to_answer(one, me)}\nasked because: {one.approval.why}"
    key = f"{one.session} {one.approval.id}"
    row = _waiting(key, one.title or one.session, one.asked_at, one.approval, detail)
    return row if one.answered_by is None else replace(row, cells=(*row.cells[:2], "answered", *row.cells[3:]))


def _how_to_answer(one: "WaitingQuestion", me: str) -> str:
    """If the session is open in another process, only the command answers it from here."""
    from assent.app.answer_words import answer_command

    if one.answered_by is not None:
        return f"answered by {who(one.answered_by, me)}; the session takes the answer when it is open"
    return answer_command(one.session, one.call_id, one.approval)


def _waiting(key: str, session: str, since: float, approval: Approval, detail: str) -> Row:
    risk = approval.details.risk if isinstance(approval.details, ExecDetails) else ""
    cells = (session, would(approval.details), span(max(0.0, time.time() - since)), risk)
    return Row(key, cells, detail, "$error" if risk == "high" else "")


def would(details: Details) -> str:
    """What would happen, in one line."""
    match details:
        case EditDetails(path=path, old=None):
            return f"create {path}"
        case EditDetails(path=path):
            return f"change {path}"
        case ExecDetails(command=command):
            return command
        case InfoDetails(prompt=prompt):
            return prompt
        case McpDetails(server=server, tool=tool):
            return f"{tool} of {server}"
        case AskDetails(questions=questions):
            return "ask you: " + " / ".join(question.question for question in questions)


COMMANDS = (
    SlashCommand(
        name="policy", help="List the rules and grants in force: explain, revoke", run=policy, group="Approvals"
    ),
    SlashCommand(
        name="approvals", help="List what is waiting for your answer, in all sessions", run=approvals, group="Approvals"
    ),
)
