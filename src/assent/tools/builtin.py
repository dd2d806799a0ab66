"""The tools that come with Assent, in the order in which the model sees them."""

import os
from typing import TYPE_CHECKING

from assent.files.private_folder import PrivateFolder
from assent.files.workspace import Workspace
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
from assent.tools.shell import ShellTool
from assent.tools.stop_background_process import StopBackgroundTool
from assent.tools.support.files import Files
from assent.tools.support.known_contents import KnownContents
from assent.tools.support.shell_options import ShellOptions
from assent.tools.tool import AnyTool
from assent.tools.undo import UndoTool
from assent.tools.web_fetch import WebFetchTool
from assent.tools.write_file import WriteFileTool
from assent.tools.write_todos import WriteTodosTool

if TYPE_CHECKING:
    from assent.web.fetch import Web

_DEFAULTS = ShellOptions()


def builtin_tools(
    workspace: Workspace,
    commands: ShellOptions = _DEFAULTS,
    *,
    web: "Web | None" = None,
    memory: str | os.PathLike[str] | None = None,
    contents: PrivateFolder | None = None,
    known: KnownContents | None = None,
) -> list[AnyTool]:
    """`memory` is the user's own context file; without one, nothing is remembered. `contents` keeps large file contents
    from before a change. `known`: what the model knows of files, if other parts of the session show it some, too.
    """
    files = Files(workspace, contents=contents, known=known)
    remembered = [] if memory is None else [_save_memory(os.fspath(memory))]
    shell = ShellTool(files, commands)
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
        UndoTool([files, *(tool.memory for tool in remembered)], commands.trials),
    ]


def _save_memory(path: str) -> SaveMemoryTool:
    folder, name = os.path.split(path)
    return SaveMemoryTool(Files(Workspace([folder], folder), new_mode=0o600), name)
