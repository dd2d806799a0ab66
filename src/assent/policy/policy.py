"""The verdict on an action: deny beats ask beats allow across all rules; then mode, rules and grants may allow; the
rest needs approval.

It judges and explains. It runs nothing, asks nobody and opens no file; commands have their own judge, which is imported
with the first one.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assent.approval import (
    AskDetails,
    Details,
    EditDetails,
    ExecDetails,
    Grant,
    InfoDetails,
    McpDetails,
    Mode,
    UnapprovedFile,
)
from assent.files.hard_links import has_other_names, second_name_below
from assent.plan import ExecutedFile
from assent.policy.action import Action
from assent.policy.decision import Verdict, by_grants, by_guard, by_rule, by_yolo, first, read_only, stricter
from assent.policy.file_approvals import FileApprovals
from assent.policy.grants import Offered, covers, is_live, proposed, why_none
from assent.policy.rules import Rule
from assent.subpath import is_below
from assent.web.destinations import CONNECT

if TYPE_CHECKING:
    from assent.policy.command_policy import CommandJudge
    from assent.policy.kept_grants import GrantKeeper


NO_GRANT_COVERS = "no grant covers a line like this one; a rule may"


class Policy:
    """Rules of all tiers, the session's grants, and its mode."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        mode: Mode = "default",
        grants: Iterable[Grant] = (),
        *,
        roots: tuple[str, ...],
        uses: dict[str, int] | None = None,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
        files: FileApprovals | None = None,
        keeper: "GrantKeeper | None" = None,
    ) -> None:
        """`clock` gives the time of day, which may be changed; `timer` is monotonic. `files` knows the files that
        commands execute; without it, commands are judged by their words alone. `keeper` writes grants that outlive the
        session; without it, there are none.
        """
        self._keeper = keeper
        self.rules = tuple(sorted(rules, key=Rule.order))
        self.mode: Mode = mode
        self.grants = dict[str, Grant]()
        self.uses = uses if uses is not None else {}
        self._roots = roots
        self._clock, self._timer = clock, timer
        self._files = files
        self._offsets = dict[str, float]()
        """For each grant, how far the clock was ahead of the timer when it was given."""
        self._followed = 0 if keeper is None else keeper.version
        for grant in (*(keeper.standing() if keeper is not None else ()), *grants):
            self.add_grant(grant)

    # --- grants ---

    def add_grant(self, grant: Grant) -> None:
        self.grants[grant.id] = grant
        self._offsets[grant.id] = self._clock() - self._timer()

    def offered(self, action: Action, call_id: str) -> Offered:
        """What may always be allowed after a question about this action. For a command, only what would have allowed
        this very call: a rule that asks, for example, asks anyway.
        """
        scopes = proposed(action, call_id, keeps=self._keeper is not None)
        if not scopes:
            return Offered(why_none=why_none(action))
        if not isinstance(action.details, ExecDetails):
            return Offered(scopes)
        asked = {scope.id: self._still_asked(action, action.details, scope) for scope in scopes}
        suffice = tuple(scope for scope in scopes if not asked[scope.id])
        return Offered(suffice, "" if suffice else asked[scopes[0].id])

    def _still_asked(self, action: Action, details: ExecDetails, grant: Grant) -> str:
        """Why a command would need approval although this was granted; empty if it would not."""
        if grant.value and not is_below(grant.value, self._roots):
            return f"it runs in {grant.value}, outside the workspace"
        verdict = self.command_judge(action, details, grant).verdict()
        if verdict.ruling == "allow":
            return ""
        return NO_GRANT_COVERS if verdict.rule == "no rule" else verdict.reason  # which would be no reason here

    def keep(self, grant: Grant) -> None:
        """Raises OSError if a grant that outlives the session cannot be written."""
        if grant.lasts != "session" and self._keeper is not None:
            self._keeper.keep(grant)

    def revoke(self, grant_id: str) -> Grant | None:
        """Here, and for later sessions."""
        grant = self.grants.pop(grant_id, None)
        if grant is not None and grant.lasts != "session" and self._keeper is not None:
            self._keeper.drop(grant_id)
        return grant

    async def settled(self) -> None:
        """Waits until what was kept and revoked for later sessions is durable."""
        if self._keeper is not None:
            await self._keeper.settled()

    def follow_keeper(self) -> None:
        """Grants that outlive their session may be given and revoked elsewhere while this one is open."""
        if self._keeper is None or self._keeper.version == self._followed:
            return
        self._followed = self._keeper.version
        standing = {grant.id: grant for grant in self._keeper.standing()}
        for grant in [one for one in self.grants.values() if one.lasts != "session" and one.id not in standing]:
            del self.grants[grant.id]
        for grant in [one for one in standing.values() if one.id not in self.grants]:
            self.add_grant(grant)

    def used(self, grant_ids: str) -> None:
        """Count a call that these grants allowed."""
        for grant_id in grant_ids.split():
            self.uses[grant_id] = self.uses.get(grant_id, 0) + 1

    def _live_grants(self) -> list[Grant]:
        self.follow_keeper()
        return [one for one in self.grants.values() if is_live(one, self._now(one), self.uses.get(one.id, 0))]

    def _now(self, grant: Grant) -> float:
        """The time by the clock as it was when the grant was given, so that changing the clock does not extend it."""
        return self._offsets[grant.id] + self._timer()

    # --- judging ---

    def assess(self, details: Details | None) -> Details | None:
        """Add what the person should know about a command: the programs it names, the files that it executes, its risk
        and why.
        """
        if not isinstance(details, ExecDetails):
            return details
        from assent.policy.shell import judge, rules

        found = judge(details.command, rules(), cwd=details.directory, roots=self._roots)
        reason = " ".join(found.reasons) or "Nothing harmful was found in it."
        executes = self._executed(details)
        return replace(details, roots=found.roots, risk=found.risk, risk_reason=reason, executes=executes)

    def _executed(self, details: ExecDetails) -> tuple[ExecutedFile, ...]:
        if self._files is None:
            return ()
        from assent.policy.executed_paths import executed_paths

        return self._files.look(executed_paths(details.command, details.directory, self._roots))

    def unapproved(self, details: Details | None) -> tuple[UnapprovedFile, ...]:
        """The files that a command would execute with a content that no person has approved."""
        if self._files is None or not isinstance(details, ExecDetails) or not details.executes:
            return ()
        return self._files.unapproved(details.executes)

    def approve_files(self, details: Details | None) -> None:
        """A person has approved a command with the files that it executes."""
        if self._files is not None and isinstance(details, ExecDetails) and details.executes:
            with suppress(OSError):  # then they are asked about again
                self._files.approve(details.executes)

    def connections(self) -> tuple[str, ...]:
        """The hosts that rules allow commands to connect to."""
        allowing = (rule for rule in self.rules if rule.ruling == "allow" and rule.tool == CONNECT and rule.domain)
        return tuple(rule.domain for rule in allowing if not rule.modes or self.mode in rule.modes)

    def judge(self, action: Action) -> Verdict:
        match action.details:
            case ExecDetails() as details:
                return self.command_judge(action, details).verdict()
            case EditDetails(old=str()) as details:
                return stricter(self._on_reading(action, details), self._on_tool(action))
            case _:
                return self._on_tool(action)

    def shows(self, action: Action) -> bool:
        """Whether the model may learn, without approval, what is in the file that the action would change."""
        assert isinstance(action.details, EditDetails)
        denied = first([rule for rule in self.rules if rule.matches(action, self.mode, self._roots)], "deny")
        return denied is None and self._on_reading(action, action.details).ruling == "allow"

    def _on_reading(self, action: Action, details: EditDetails) -> Verdict:
        """An edit reveals the current content through its diff, its report or its error, so it also needs permission to
        read.
        """
        about = InfoDetails(details.secret) if details.secret else None
        verdict = self._on_tool(replace(action, tool="read_file", details=about))
        reason = f"{details.secret}, and a change reveals its content"
        return replace(verdict, reason=reason) if details.secret and verdict.ruling == "ask" else verdict

    def _on_tool(self, action: Action) -> Verdict:
        matching = [rule for rule in self.rules if rule.matches(action, self.mode, self._roots)]
        for ruling in ("deny", "ask"):
            rule = first(matching, ruling)
            if rule is not None:
                return by_rule(rule)
        return (
            _by_asking(action)
            or self._by_guards(action)
            or self._by_mode(action)
            or self._by_permission(action, matching)
            or _ask(action)
        )

    def command_judge(self, action: Action, details: ExecDetails, given: Grant | None = None) -> "CommandJudge":
        """`given`: a grant that is about to be given, with the files as they are."""
        from assent.policy.command_policy import CommandJudge

        rules = [rule for rule in self.rules if rule.is_about(action, self.mode)]
        grants = [grant for grant in self._live_grants() if grant.tool == action.tool]
        if given is not None:
            return CommandJudge(details, rules, [*grants, given], self.mode, self._roots)
        return CommandJudge(details, rules, grants, self.mode, self._roots, self.unapproved(details))

    def tries_first(self, action: Action) -> bool:
        """Whether the mode has a command tried before anyone is asked. A rule that asks, asks about its words."""
        match action.details:
            case ExecDetails(trial=None) as details if self.mode == "auto_try":
                return not self.command_judge(action, details).asks_about_words()
            case _:
                return False

    def only_reads(self, details: ExecDetails) -> bool:
        """Whether the command certainly writes no file, whoever allows it."""
        from assent.policy.effects import only_reads

        return only_reads(details.command, details.directory, self._roots)

    def _by_guards(self, action: Action) -> Verdict | None:
        """Searching a folder may reach files that a rule protects; a hard link may be one under another name."""
        guards = [r for r in self.rules if r.ruling != "allow" and r.is_about(action, self.mode)]
        trees = [path for path in action.paths if path.endswith("/")]
        rule = next((r for r in guards if any(r.may_be_below(tree, self._roots) for tree in trees)), None)
        if rule is not None:
            return by_guard(rule, "it searches a folder with files that {rule} covers")
        files = [path for path in action.paths if has_other_names(path.rstrip("/"))]
        if guards and (files or any(map(second_name_below, trees))):
            return by_guard(guards[0], "a file in it has a second name (hard link) and may be one that {rule} covers")
        return None

    def _by_mode(self, action: Action) -> Verdict | None:
        match self.mode, action.details:
            case _, None:
                return Verdict("allow", "tool", "it only reads inside the workspace")
            case "plan", InfoDetails():
                return None  # it only reads, so it needs approval as usual
            case "plan", McpDetails(read_only=True, unseen=""):
                return None
            case "plan", _:
                return read_only()
            case "yolo", _:
                return by_yolo()
            case "auto_edit", EditDetails(protected="", runs=""):
                return Verdict("allow", "mode", "auto_edit mode allows edits inside the workspace")
            case _:
                return None

    def _by_permission(self, action: Action, matching: list[Rule]) -> Verdict | None:
        match action.details:
            case InfoDetails(warnings=[_, *_]):
                return None  # even to an allowed host, an address can carry data out
            case McpDetails(unseen=unseen) if unseen:
                return None
            case _:
                pass
        rule = first(matching, "allow")
        if rule is not None:
            return by_rule(rule)
        grant = next((grant for grant in self._live_grants() if covers(grant, action)), None)
        return None if grant is None else by_grants([grant])


def _by_asking(action: Action) -> Verdict | None:
    """A question for the person is always theirs to answer, whatever is allowed."""
    return (
        Verdict("ask", "rule", "the model has a question for you") if isinstance(action.details, AskDetails) else None
    )


def _ask(action: Action) -> Verdict:
    match action.details:
        case EditDetails(protected=protected) if protected:
            reason = f"it is a protected file: {protected}"
        case EditDetails(runs=runs) if runs:
            reason = f"editing this file always needs approval: {runs}"
        case EditDetails():
            reason = "changing files needs approval in this mode"
        case InfoDetails() as details:
            reason = _why_revealing(action.tool, details)
        case McpDetails(unseen=unseen) if unseen:
            reason = unseen
        case McpDetails(command=command) if command:
            reason = "it runs a project command, and no rule allows this tool"
        case McpDetails(server=server):
            reason = f"no rule trusts the server {server}"
        case _:
            reason = "no rule covers it"
    return Verdict("ask", "rule", reason)


def _why_revealing(tool: str, details: InfoDetails) -> str:
    if details.warnings:
        return f"check the address: {details.warnings[0]}"
    match tool:
        case "read_file":
            return "files of this name usually hold secrets"
        case _ if tool == CONNECT:
            return "none of your rules allows a command to connect to this host"
        case _:
            return "web requests need approval in this mode"
