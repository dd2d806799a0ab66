"""Which processes are still alive, and how to start a helper program."""

import os
from pathlib import Path

from assent.process import process_table


def alive(pid: int) -> bool:
    """A zombie does not count: its parent may be slow to reap it."""
    fields = process_table.line(pid)
    return fields is not None and not process_table.is_dead(fields)


def helper_env() -> dict[str, str]:
    """An environment in which `python -m support.…` works."""
    return dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[1])}
