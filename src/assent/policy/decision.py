"""The result of judging: what may happen, who decided, and why, in one sentence."""

from typing import Literal

from msgspec import Struct

from assent.approval import Grant
from assent.plan import Plan
from assent.policy.rules import Rule, Ruling


class Verdict(Struct, frozen=True, gc=False):
    ruling: Ruling
    source: Literal["tool", "mode", "rule", "grant"]
    reason: str
    rule: str = ""
    """The rule in words, or the ids of the grants."""
    plan: Plan | None = None
    """For a command allowed by its words: exactly these words run, without a shell."""


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
    return Verdict(rule.ruling, "rule", rule.message or f"{rule.describe()} says so", rule.describe())


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
