"""Who is still there."""

from assent.process import table


def alive(pid: int) -> bool:
    """One that has ended and was not collected yet is not: whoever collects it may be slow."""
    fields = table.line(pid)
    return fields is not None and not table.is_dead(fields)
