"""The shell gate: judges a command line and, when it may run without asking, says exactly what runs.

`judge` decides, `proposal` suggests what a person may allow for good, `check` is the same for JSON
lines.
"""

from assent.plan import Plan
from assent.policy.shell.judge import Judgement, PartJudgement, judge
from assent.policy.shell.lines import check
from assent.policy.shell.proposal import Scope, proposal
from assent.policy.shell.rules import Rules, rules

__all__ = ["Judgement", "PartJudgement", "Plan", "Rules", "Scope", "check", "judge", "proposal", "rules"]
