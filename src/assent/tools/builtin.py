"""The tools that come with Assent, in the order in which the model sees them."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.config import CommandLimits, Environment
from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
from assent.plan import SandboxName
from assent.secrets.mask import Masker
from assent.tools.ask_user import AskUserTool
from assent.tools.connect import ConnectTool
from assent.tools.glob import GlobTool
from assent.tools.grep_search import GrepTool
from assent.tools.list_background_processes import ListBackgroundTool
from assent.tools.list_directory import ListDirectoryTool
from assent.tools.propose_plan import ProposePlanTool
from assent.tools.read_background_output import ReadBackgroundTool
from assent.tools.read_file import ReadFileTool
from assent.tools.read_many_files import ReadManyFilesTool
from assent.tools.replace import ReplaceTool
from assent.tools.save_memory import SaveMemoryTool
from assent.tools.shell import TERMINAL, ShellTool
from assent.tools.stop_background_process import StopBackgroundTool
from assent.tools.support.files import Files
from assent.tools.tool import AnyTool
from assent.tools.undo import UndoTool
from assent.tools.web_fetch import WebFetchTool
from assent.tools.write_file import WriteFileTool
from assent.tools.write_todos import WriteTodosTool

if TYPE_CHECKING:
    from assent.sandbox.confinement import Confinement
    from assent.tools.support.background_processes import BackgroundCommands
    from assent.web.fetch import Web


def builtin_tools(
    workspace: Workspace,
    *,
    limits: CommandLimits = CommandLimits(),  # noqa: B008  (frozen)
    terminal: tuple[int, int] | None = TERMINAL,
    typing: bool = False,
    background: "BackgroundCommands | None" = None,
    web: "Web | None" = None,
    outputs: PrivateFolder | None = None,
    memory: str | os.PathLike[str] | None = None,
    contents: PrivateFolder | None = None,
    environment: Environment | None = None,
    masker: Masker | None = None,
    confinement: "Callable[[], Confinement] | None" = None,
    approved: SandboxName = "off",
    domains: tuple[str, ...] = (),
    trials: str = "",
) -> list[AnyTool]:
    """`limits` and `terminal` are for shell commands; `terminal=None` uses a plain pipe, which is faster, if nobody is
    watching. `typing`: a person can type into them. `background` runs those that continue after their call. `outputs`
    is the folder for output that is too long for the model; the workspace must allow reading it. `memory` is the user's
    own context file; without one nothing is remembered. `contents` keeps large file contents from before a change.
    `environment` selects the variables that commands get, `masker` masks secrets in what they print, `confinement` puts
    them into a sandbox, `approved` is the profile of those that run as they are written, and `domains` are the hosts
    that all of them may connect to. `trials` is the folder for what trials change; without one, nothing can be tried.
    """
    files = Files(workspace, contents=contents)
    remembered = [] if memory is None else [_save_memory(os.fspath(memory))]
    shell = ShellTool(
        files,
        limits=limits,
        terminal=terminal,
        typing=typing,
        background=background,
        environment=environment,
        outputs=outputs,
        masker=masker,
        confinement=confinement,
        approved=approved,
        domains=domains,
        trials=trials,
    )
    return [
        ReadFileTool(files),
        ReadManyFilesTool(files, confinement=shell.confinement),
        ListDirectoryTool(files),
        GlobTool(files, confinement=shell.confinement),
        GrepTool(files, confinement=shell.confinement),
        WriteFileTool(files),
        ReplaceTool(files),
        shell,
        ListBackgroundTool(shell.background),
        ReadBackgroundTool(shell.background),
        StopBackgroundTool(shell.background),
        ConnectTool(),
        WebFetchTool(web),
        WriteTodosTool(),
        AskUserTool(),
        ProposePlanTool(),
        *remembered,
        UndoTool([files, *(tool.memory for tool in remembered)], trials),
    ]


def _save_memory(path: str) -> SaveMemoryTool:
    folder, name = os.path.split(path)
    return SaveMemoryTool(Files(Workspace([folder], folder), new_mode=0o600), name)
