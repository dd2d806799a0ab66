"""The result of judging: what may happen, who decided, and why, in one sentence."""

from typing import Literal

from msgspec import Struct

from assent.approval import Grant
from assent.plan import Plan, SandboxName
from assent.policy.rules import Rule, Ruling

CONTAINS: SandboxName = "workspace"
"""The sandbox of a command that nobody is asked about because it is contained."""


class Verdict(Struct, frozen=True, gc=False):
    ruling: Ruling
    source: Literal["tool", "mode", "rule", "grant"]
    reason: str
    rule: str = ""
    """The rule in words, or the ids of the grants."""
    plan: Plan | None = None
    """For a command allowed by its words: exactly these words run, without a shell."""
    sandbox: SandboxName | None = None
    """For a command that runs as it is written because a sandbox contains it: this one, or it does not run."""

    @property
    def runs_in(self) -> SandboxName | None:
        return self.sandbox if self.plan is None else self.plan.sandbox


def first(rules: list[Rule], ruling: Ruling) -> Rule | None:
    return next((rule for rule in rules if rule.ruling == ruling), None)


def stricter(one: Verdict, other: Verdict) -> Verdict:
    """Deny beats ask, ask beats allow. Of two that deny or ask, the first gives the reason; of two that allow, the
    second.
    """
    order = ("deny", "ask", "allow")
    found = min((one, other), key=lambda verdict: order.index(verdict.ruling))
    return other if found.ruling == "allow" else found


def by_rule(rule: Rule) -> Verdict:
    sandbox = CONTAINS if rule.contained else None
    reason = rule.message or f"{rule.describe()} says so"
    return Verdict(rule.ruling, "rule", reason, rule.describe(), sandbox=sandbox)


def by_containment() -> Verdict:
    return Verdict(
        "allow",
        "mode",
        "the sandbox contains it: it can write only to the workspace, and has no network",
        sandbox=CONTAINS,
    )


def by_guard(rule: Rule, reason: str) -> Verdict:
    """Ask because of a path rule that may apply. `{rule}` in the reason stands for the rule in words."""
    return Verdict("ask", "rule", reason.format(rule=rule.describe()), rule.describe())


def by_grants(grants: list[Grant], plan: Plan | None = None) -> Verdict:
    reach = " ".join(grant.reach for grant in grants)
    return Verdict("allow", "grant", f"granted before: {reach}", " ".join(grant.id for grant in grants), plan)


def by_yolo() -> Verdict:
    return Verdict("allow", "mode", "yolo mode allows everything")


def read_only() -> Verdict:
    return Verdict(
        "deny",
        "mode",
        "plan mode is read-only: describe changes instead of making them, then show your plan",
    )
