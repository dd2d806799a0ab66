"""The tools that come with Assent, in the order in which the model sees them."""

from assent.files.workspace import Workspace
from assent.process.run import Limits
from assent.tools.base import AnyTool
from assent.tools.files import Files
from assent.tools.glob import GlobTool
from assent.tools.grep_search import GrepTool
from assent.tools.list_directory import ListDirectoryTool
from assent.tools.read_file import ReadFileTool
from assent.tools.replace import ReplaceTool
from assent.tools.shell import DEFAULT_LIMITS, ShellTool
from assent.tools.write_file import WriteFileTool


def builtin_tools(workspace: Workspace, *, shell_limits: Limits = DEFAULT_LIMITS) -> list[AnyTool]:
    files = Files(workspace)
    return [
        ReadFileTool(files),
        ListDirectoryTool(files),
        GlobTool(files),
        GrepTool(files),
        WriteFileTool(files),
        ReplaceTool(files),
        ShellTool(files, limits=shell_limits),
    ]
