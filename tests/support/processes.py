"""Which processes are still alive."""

from assent.process import process_table


def alive(pid: int) -> bool:
    """A zombie does not count: its parent may be slow to reap it."""
    fields = process_table.line(pid)
    return fields is not None and not process_table.is_dead(fields)
