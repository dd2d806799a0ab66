"""Starts a plan as its own program, so that it gets the same session, terminal and limits as any other."""

import os
import sys

import msgspec

from assent.plan import Plan

_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def source_folder() -> str:
    """What our own helper programs import from."""
    return _SOURCE


_START = f"import sys; sys.path.insert(0, {_SOURCE!r}); from assent.process.pipeline import main; main()"


def pipeline_argv(plan: Plan) -> list[str]:
    """A small interpreter that executes the plan; isolated, so that nothing from the workspace is imported."""
    return [sys.executable, "-I", "-c", _START, msgspec.json.encode(plan).decode()]
