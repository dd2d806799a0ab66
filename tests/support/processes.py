"""Who is still there, and how to start a helper of the tests."""

import os
from pathlib import Path

from assent.process import process_table


def alive(pid: int) -> bool:
    """One that has ended and was not collected yet is not: whoever collects it may be slow."""
    fields = process_table.line(pid)
    return fields is not None and not process_table.is_dead(fields)


def helper_env() -> dict[str, str]:
    """In which `python -m support.…` finds itself."""
    return dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[1])}
