"""The verdict on an action: deny > ask > allow over all rules; then mode, rules and grants may allow; the rest asks.

It judges and explains. It runs nothing, asks nobody and reads no file; commands are read by the shell gate, which is
imported with the first one.
"""

import time
from collections.abc import Callable, Iterable
from posixpath import normpath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from assent.approval import Details, EditDetails, ExecDetails, Grant, InfoDetails, McpDetails, Mode
from assent.plan import Plan
from assent.policy.action import Action
from assent.policy.grants import covers, is_live, moves, proposed_lines
from assent.policy.rules import Rule, Ruling

if TYPE_CHECKING:
    from assent.policy.shell import Judgement


class Verdict(Struct, frozen=True, gc=False):
    """What may happen, who says so, and why in one sentence."""

    ruling: Ruling
    source: Literal["tool", "mode", "rule", "grant"]
    reason: str
    rule: str = ""
    """The rule in words, or the id of the grant."""
    plan: Plan | None = None
    """For a command that is allowed by its words: exactly these words run, and no shell."""


class Policy:
    """Rules of all tiers, the grants of the session, and its mode."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        mode: Mode = "default",
        grants: Iterable[Grant] = (),
        *,
        roots: tuple[str, ...] = ("/w",),
        uses: dict[str, int] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.rules = tuple(sorted(rules, key=Rule.order))
        self.mode: Mode = mode
        self.grants = {grant.id: grant for grant in grants}
        self._roots = roots
        self._uses = uses if uses is not None else {}
        self._clock = clock

    # --- grants ---

    def add_grant(self, grant: Grant) -> None:
        self.grants[grant.id] = grant

    def revoke(self, grant_id: str) -> Grant | None:
        return self.grants.pop(grant_id, None)

    def used(self, grant_id: str) -> None:
        if grant_id in self.grants:
            self._uses[grant_id] = self._uses.get(grant_id, 0) + 1

    def _live_grants(self) -> list[Grant]:
        now = self._clock()
        return [grant for grant in self.grants.values() if is_live(grant, now, self._uses.get(grant.id, 0))]

    # --- judging ---

    def assess(self, details: Details | None) -> Details | None:
        """Adds to a command what the person should know: the programs it names, its risk and why."""
        if not isinstance(details, ExecDetails):
            return details
        from assent.policy.shell import judge, rules

        found = judge(details.command, rules(), cwd=details.directory, roots=self._roots)
        reason = " ".join(found.reasons) or "Nothing harmful was found in it."
        return replace(details, roots=found.roots, risk=found.risk, risk_reason=reason)

    def judge(self, action: Action) -> Verdict:
        matching = [rule for rule in self.rules if rule.matches(action, self.mode, self._roots)]
        if isinstance(action.details, ExecDetails):
            return self._judge_command(action, action.details, matching)
        for ruling in ("deny", "ask"):
            rule = _first(matching, ruling)
            if rule is not None:
                return _by_rule(rule)
        return (
            self._by_guarded_tree(action)
            or self._by_mode(action)
            or self._by_permission(action, matching)
            or _ask(action)
        )

    def _guarding(self, action: Action) -> list[Rule]:
        """Rules that deny or ask by path, and could be about this action."""
        return [r for r in self.rules if r.path and r.ruling != "allow" and r.is_about(action, self.mode)]

    def _by_guarded_tree(self, action: Action) -> Verdict | None:
        """A search of a folder may come upon what a rule keeps from it."""
        trees = [path for path in action.paths if path.endswith("/")]
        for rule in self._guarding(action):
            if any(rule.may_be_below(tree, self._roots) for tree in trees):
                return Verdict(
                    "ask", "rule", f"it looks through a folder that {rule.describe()} is about", rule.describe()
                )
        return None

    def _by_mode(self, action: Action) -> Verdict | None:
        match self.mode, action.details:
            case _, None:
                return Verdict("allow", "tool", "it only reads inside the workspace")
            case "plan", _:
                return _read_only()
            case "yolo", _:
                return Verdict("allow", "mode", "yolo mode allows everything")
            case "auto_edit", EditDetails(protected=""):
                return Verdict("allow", "mode", "auto_edit mode allows edits inside the workspace")
            case _:
                return None

    def _by_permission(self, action: Action, matching: list[Rule]) -> Verdict | None:
        rule = _first(matching, "allow")
        if rule is not None:
            return _by_rule(rule)
        grant = next((grant for grant in self._live_grants() if covers(grant, action)), None)
        return None if grant is None else _by_grant(grant)

    # --- commands ---

    def _judge_command(self, action: Action, details: ExecDetails, matching: list[Rule]) -> Verdict:
        """Rules about the whole tool, and what the shell gate says about the words."""
        whole = [rule for rule in matching if not rule.words() and not (rule.path and rule.ruling != "allow")]
        found = self.judgement(action, details)
        denied = _first(whole, "deny") or self._guard_of_words(action, details, found, "deny")
        if denied is not None:
            return _by_rule(denied)
        if found.decision == "deny":
            return Verdict("deny", "rule", _why(found), _decided_by(found, "deny"))
        if self.mode == "plan":
            return _read_only()
        asked = _first(whole, "ask") or self._guard_of_words(action, details, found, "ask")
        if asked is not None:
            return _by_rule(asked)
        if self._asks_by_rule(found, matching):
            return Verdict("ask", "rule", "a rule of yours wants to be asked about this", _decided_by(found, "ask"))
        return self._allow_command(found, whole, action)

    def _guard_of_words(self, action: Action, details: ExecDetails, found: "Judgement", ruling: Ruling) -> Rule | None:
        """The rule that keeps a file from this command, when a word of it names that file."""
        words = [word for part in found.parts for word in part.words]
        places = [normpath(f"{details.directory}/{word}" if word[:1] != "/" else word) for word in words]
        guarding = [rule for rule in self._guarding(action) if rule.ruling == ruling]
        return next((r for r in guarding if any(r.guards(place, self._roots) for place in places)), None)

    def _allow_command(self, found: "Judgement", whole: list[Rule], action: Action) -> Verdict:
        if self.mode == "yolo":
            return Verdict("allow", "mode", "yolo mode allows everything")
        rule = _first(whole, "allow")
        if rule is not None:
            return _by_rule(rule)
        if found.decision == "allow":
            return self._by_words(found, action)
        return self._by_built_in(action)

    def _by_words(self, found: "Judgement", action: Action) -> Verdict:
        said = _decided_by(found, "allow")
        for grant in self._granted(action):
            if any(f"`{' '.join(words)}`" in said for words in (*grant.exact, *grant.prefixes)):
                return Verdict("allow", "grant", f"granted before: {grant.reach}", grant.id, found.plan)
        return Verdict("allow", "rule", _why(found), said, found.plan)

    def _by_built_in(self, action: Action) -> Verdict:
        """Commands that only read are allowed out of the box, as long as they stay inside the workspace."""
        assert isinstance(action.details, ExecDetails)
        from assent.policy.built_in import stays_inside

        guarding = self._guarding(action)
        if guarding:
            return Verdict("ask", "rule", f"a command may touch what {guarding[0].describe()} is about")
        found = self.judgement(action, action.details, built_in=True)
        if found.plan is None:
            return Verdict("ask", "rule", _why(found), _decided_by(found, "ask"))
        if not stays_inside(found.plan, self._roots):
            return Verdict("ask", "rule", "it looks outside the workspace, and no rule of yours allows that")
        if self._by_words(found, action).source == "grant":
            return self._by_words(found, action)
        plan = replace(found.plan, inside=True)
        return Verdict("allow", "rule", _why(found), f"built-in: {_decided_by(found, 'allow')}", plan)

    def _asks_by_rule(self, found: "Judgement", matching: list[Rule]) -> bool:
        """An ask rule holds in every mode; what could not be read might be what it is about."""
        if not any(rule.ruling == "ask" and rule.words() for rule in matching):
            return False
        return any(part.by.startswith("ask rule") for part in found.parts) or not found.readable

    def _granted(self, action: Action) -> list[Grant]:
        """Grants for commands hold in the folder where they were given, and a counted one for a single command."""
        assert isinstance(action.details, ExecDetails)
        here, command = action.details.directory, action.details.command
        return [
            grant
            for grant in self._live_grants()
            if grant.tool == action.tool
            and grant.value in ("", here)
            and (grant.max_uses is None or proposed_lines(command) == 1)
            and not moves(command)
        ]

    def judgement(self, action: Action, details: ExecDetails, *, built_in: bool = False) -> "Judgement":
        """What the shell gate says, with the rules and grants that speak about command words."""
        from assent.policy.built_in import READ_ONLY
        from assent.policy.shell import Rules, judge

        matching = [rule for rule in self.rules if rule.words() and rule.matches(action, self.mode, self._roots)]
        granted = self._granted(action)
        words = {r: tuple(rule.words() for rule in matching if rule.ruling == r) for r in ("allow", "ask", "deny")}
        known = Rules(
            allow=(
                *words["allow"],
                *(prefix for grant in granted for prefix in grant.prefixes),
                *(READ_ONLY if built_in else ()),
            ),
            ask=words["ask"],
            deny=words["deny"],
            exact=tuple(line for grant in granted for line in grant.exact),
        )
        return judge(details.command, known, cwd=details.directory, roots=self._roots)


def _first(rules: list[Rule], ruling: Ruling) -> Rule | None:
    return next((rule for rule in rules if rule.ruling == ruling), None)


def _by_rule(rule: Rule) -> Verdict:
    return Verdict(rule.ruling, "rule", rule.message or f"{rule.describe()} says so", rule.describe())


def _by_grant(grant: Grant) -> Verdict:
    return Verdict("allow", "grant", f"granted before: {grant.reach}", grant.id)


def _read_only() -> Verdict:
    return Verdict("deny", "mode", "plan mode is read-only: describe the change instead of making it")


def _why(found: "Judgement") -> str:
    return found.why.rstrip(".")


def _decided_by(found: "Judgement", ruling: Ruling) -> str:
    return "; ".join(dict.fromkeys(part.by for part in found.parts if part.decision == ruling))


def _ask(action: Action) -> Verdict:
    match action.details:
        case EditDetails(protected=protected) if protected:
            reason = f"it is a protected file: {protected}"
        case EditDetails():
            reason = "changes to files are asked in this mode"
        case InfoDetails():
            reason = "requests to the outside are asked in this mode"
        case McpDetails(server=server):
            reason = f"the server {server} is not trusted by any rule"
        case _:
            reason = "no rule covers it"
    return Verdict("ask", "rule", reason)
