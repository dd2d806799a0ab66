"""Grants for commands: in which folder a line runs, what may be offered for it, and why nothing is.

A grant for a command holds in one folder, because elsewhere the same words mean something else. The shell gate knows
what the words mean; whether a grant suffices is for the judge to say.
"""

import re

from assent.plan import Plan, Stage
from assent.policy.cwd_tracking import with_folders
from assent.policy.executed_paths import executed_paths
from assent.policy.shell.lexer import Refused
from assent.policy.shell.parsed import understood
from assent.policy.shell.paths import moves
from assent.policy.shell.proposal import Scope, runs_code, scopes_by_command, why_no_scope

_APART = r"[\s;&|(){}<>$`\"'\\]+"


def folder_of(command: str, directory: str) -> str:
    """The one folder in which everything in the line certainly runs; empty if some of it may run elsewhere."""
    mentions = re.split(_APART, command).count("cd")
    if not mentions:
        return directory
    placed = _placed(command, directory)
    if sum(moves(stage) for stage, _ in placed) != mentions:
        return ""  # inside a text that another program runs
    folders = {folder for stage, where in placed if not moves(stage) for folder in where or ("",)}
    return folders.pop() if len(folders) == 1 else ""


def _placed(command: str, directory: str) -> list[tuple[Stage, tuple[str, ...]]]:
    try:
        return list(with_folders(Plan(steps=understood(command), cwd=directory)))
    except Refused:
        return []


def choices(command: str) -> list[list[Scope]]:
    """One scope for each command: first the narrowest ones, then the widest that make sense. Empty if nothing does."""
    commands = scopes_by_command(command)
    if not commands or not all(commands):
        return []
    narrow = [scopes[0] for scopes in commands]
    wide = [scopes[-1] for scopes in commands]
    return [narrow, wide] if wide != narrow else [narrow]


def depends_on_folder(command: str, directory: str) -> bool:
    """Whether it executes or obeys files of the folder in which it runs, even if none of them exists now."""
    return runs_code(command) or bool(executed_paths(command, directory, (directory,)))


def why_no_choice(command: str, directory: str) -> str:
    """Why nothing may be offered."""
    if why := why_no_scope(command):
        return why
    return "" if folder_of(command, directory) else "its `cd` makes it unclear in which folder each command runs"
