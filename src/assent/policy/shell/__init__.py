"""The shell gate: judges a command line and, if it may run without approval, says exactly what runs.

`judge` decides, `proposal` suggests what a person may always allow, and `lines` does the same for JSON lines.
"""

from assent.plan import Plan
from assent.policy.shell.command_rules import CommandRules, rules
from assent.policy.shell.judge import Judgement, PartJudgement, judge
from assent.policy.shell.lines import check
from assent.policy.shell.proposal import Scope, proposal

__all__ = ["CommandRules", "Judgement", "PartJudgement", "Plan", "Scope", "check", "judge", "proposal", "rules"]
