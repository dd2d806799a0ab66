"""What today's rules would decide for the calls of a session, for `assent policy replay`.

Each call is judged as of its own time: with the mode, the grants and their use counts that the log has for it. An edit
is taken from the log, too: it cannot be computed again from a file that has changed since. Rules given on the command
line are not in the log, so they do not count here.
"""

from collections.abc import Iterable

from msgspec import Struct

from assent.app.wording import call_about, one_line
from assent.approval import Details, EditDetails, Grant, Mode
from assent.events import ApprovalRequested, CallFinished, CallScheduled, Envelope, Event
from assent.files.workspace import Workspace
from assent.parts import DiffDisplay
from assent.policy.action import Action
from assent.policy.decision import Verdict
from assent.policy.policy import Policy
from assent.policy.rules import Rule
from assent.scheduler.call import (
    AwaitingApproval,
    Cancelled,
    Executing,
    Failed,
    Scheduled,
    Success,
    ToolCall,
    Validating,
)
from assent.scheduler.transitions import action_of, make_action, verdict_on
from assent.session.state import SessionState
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool, InvalidParams, Invocation, ToolFailed


class Moment(Struct, frozen=True):
    """What applied when a call was decided."""

    ts: float
    mode: Mode
    grants: tuple[Grant, ...]
    uses: dict[str, int]

    def policy(self, rules: Iterable[Rule], folder: str) -> Policy:
        return Policy(rules, self.mode, self.grants, roots=(folder,), uses=dict(self.uses), clock=lambda: self.ts)


class Replay:
    def __init__(
        self,
        state: SessionState,
        rules: tuple[Rule, ...],
        registry: Registry,
        workspace: Workspace,
        not_started: tuple[str, ...] = (),
    ) -> None:
        """`not_started`: how the tools of configured servers begin; nothing is started just to replay a session."""
        self._not_started = not_started
        self._state = state
        self._rules = rules
        self._registry = registry
        self._workspace = workspace

    async def lines(self, envelopes: list[Envelope]) -> list[str]:
        moments = _moments(self._state.session, envelopes)
        lines = [await self._line(call, moments.get(call_id)) for call_id, call in self._state.calls.items()]
        changed = sum(line.startswith("!") for line in lines)
        return [*lines, f"{len(lines)} calls, {changed} would be judged differently now"]

    async def _line(self, call: ToolCall, moment: Moment | None) -> str:
        request, then = call.request, _then(call)
        label = one_line(f"{request.tool} {call_about(request)}")
        tool = self._registry.get(request.tool)
        if tool is None:
            return f"  {then:<7} → ({self._why_missing(request.tool)})  {label}"
        if moment is None or not then:
            return f"  {then:<7} → (was never decided)  {label}"
        try:
            verdict = await self._judge(call, tool, moment)
        except (InvalidParams, ToolFailed) as error:
            return f"  {then:<7} → (cannot be judged now: {one_line(str(error))})  {label}"
        mark = "!" if verdict.ruling != then else " "
        return f"{mark} {then:<7} → {verdict.ruling:<5} {label}: {one_line(verdict.reason)}"

    def _why_missing(self, tool: str) -> str:
        return "its server is not started for a replay" if tool.startswith(self._not_started) else "no such tool here"

    async def _judge(self, call: ToolCall, tool: AnyTool, moment: Moment) -> Verdict:
        policy = moment.policy(self._rules, self._state.folder)
        return verdict_on(policy, await self._action(call, tool, policy), call.request)

    async def _action(self, call: ToolCall, tool: AnyTool, policy: Policy) -> Action:
        args = call.request.args
        invocation = tool.build(args)
        recorded = self._recorded(call, invocation)
        if recorded is None:
            return await make_action(policy, tool, args, invocation)
        return action_of(policy, tool, args, invocation, recorded)

    def _recorded(self, call: ToolCall, invocation: Invocation) -> Details | None:
        """The edit as it was shown, or as it was made without being shown."""
        approval = None if isinstance(call, Validating) else call.approval
        if approval is not None and isinstance(approval.details, EditDetails):
            return approval.details
        if isinstance(call, Success) and isinstance(call.display, DiffDisplay):
            (path,) = invocation.resources().writes
            found = self._workspace.classify(path, "write")
            return EditDetails(
                path=path,
                diff=call.display.diff,
                old=None,
                new="",
                protected=found.reason if found.kind == "protected" else "",
            )
        return None


def _moments(session: str, envelopes: list[Envelope]) -> dict[str, Moment]:
    """For each call, what applied when it was last asked about, or decided without asking."""
    state, found = SessionState(session), dict[str, Moment]()
    for envelope in envelopes:
        call_id, final = _judged(envelope.event)
        if call_id and not (final and call_id in found):
            found[call_id] = Moment(envelope.ts, state.mode, tuple(state.grants.values()), dict(state.grant_uses))
        state.apply(envelope)
    return found


def _judged(event: Event) -> tuple[str, bool]:
    match event:
        case ApprovalRequested(call_id=call_id):
            return call_id, False
        case CallScheduled(call_id=call_id, decision=decision) if decision.source != "person":
            return call_id, False
        case CallFinished(call_id=call_id):
            return call_id, True
        case _:
            return "", False


def _then(call: ToolCall) -> str:
    """What was decided: `allow` without asking, `ask`, or `deny`; empty if nothing was."""
    match call:
        case Scheduled() | Executing() | Success() | Failed() | Cancelled() if call.decision is not None:
            return "ask" if call.decision.source == "person" else "allow"
        case AwaitingApproval():
            return "ask"
        case Failed(failure=failure) if failure.type == "policy_violation":
            return "deny"
        case Failed(failure=failure) if failure.type == "approval_unavailable":
            return "ask"
        case Failed() | Cancelled() if call.approval is not None:
            return "ask"
        case _:
            return ""
