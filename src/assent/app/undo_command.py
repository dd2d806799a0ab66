"""The command that takes back what a call wrote, whoever gives it."""

from assent.commands import RunTool
from assent.tools.undo import NAME


def undo_command(call_id: str, by: str) -> RunTool:
    return RunTool(NAME, {"call_id": call_id}, by=by)
