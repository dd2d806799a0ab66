"""One JSON object in, one out: the interface for testing the gate from outside."""

import os
from typing import Any

from assent.policy.shell.command_rules import rules
from assent.policy.shell.judge import judge


def check(line: dict[str, Any]) -> dict[str, Any]:
    """`{"command", "allow"?, "ask"?, "deny"?, "cwd"?, "roots"?}` → decision, roots, inner, risk, reasons."""
    cwd = line.get("cwd") or os.getcwd()
    known = rules(line.get("allow") or (), line.get("ask") or (), line.get("deny") or ())
    found = judge(str(line.get("command", "")), known, cwd=cwd, roots=line.get("roots") or [cwd])
    reasons = found.reasons if found.decision == "allow" else (found.why, *found.reasons)
    return {
        "decision": found.decision,
        "roots": list(found.roots),
        "inner": list(found.inner),
        "risk": found.risk,
        "reasons": list(reasons),
    }
