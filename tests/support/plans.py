"""Helpers for inspecting plans."""

from collections.abc import Sequence

from assent.plan import Stage, Step, simple_commands


def stage_of(steps: Sequence[Step], at: int = 0) -> Stage:
    """One of the simple commands, in source order."""
    return list(simple_commands(steps))[at]
