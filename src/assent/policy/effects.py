"""What a command may do to files, for ordering commands. Does not decide what may run."""

from functools import lru_cache

from assent.policy.built_in import READ_ONLY
from assent.policy.shell import CommandRules, judge


@lru_cache(256)
def only_reads(command: str, directory: str, roots: tuple[str, ...]) -> bool:
    """Whether it certainly writes no file: all of its words are understood, and its programs only read."""
    plan = judge(command, CommandRules(reading=READ_ONLY), cwd=directory, roots=roots).plan
    return plan is not None and not plan.writes
