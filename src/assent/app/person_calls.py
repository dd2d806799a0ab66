"""Tools that a person runs: the session commands for them, the same in every front end."""

from assent.commands import RunTool


def undo_command(call_id: str, by: str) -> RunTool:
    from assent.tools.undo import NAME

    return RunTool(NAME, {"call_id": call_id}, by=by)


def remember_command(fact: str, by: str) -> RunTool:
    from assent.tools.save_memory import SaveMemoryTool

    return RunTool(SaveMemoryTool.name, {"fact": fact}, by=by)
