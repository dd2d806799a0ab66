"""Who is still there."""

from assent.process import process_table


def alive(pid: int) -> bool:
    """One that has ended and was not collected yet is not: whoever collects it may be slow."""
    fields = process_table.line(pid)
    return fields is not None and not process_table.is_dead(fields)
