"""What the tools for background commands share: how a command is found, and how it is described in one line."""

from typing import Annotated

from msgspec import Meta

from assent.tools.support.background_processes import BackgroundCommands, RunningCommand
from assent.tools.tool import ToolFailed

Pid = Annotated[int, Meta(description="The process id that run_shell_command returned.")]


def found_command(commands: BackgroundCommands, pid: int) -> RunningCommand:
    """Raises ToolFailed if there is none."""
    found = commands.find(pid)
    if found is None:
        raise ToolFailed("no_such_process", f"No background command of this session has the process id {pid}.")
    return found


def in_one_line(one: RunningCommand) -> str:
    kept = " (kept by the user)" if one.files is not None else ""
    state = f"ended ({one.outcome})" if one.outcome else f"running for {one.seconds} s{kept}"
    return f"{one.pid}: {state}: {one.command}"
