"""The files of a folder as the tools would list them: without what git ignores, and nothing outside the folder."""

from assent.files.workspace import Workspace
from assent.tools.support.files import Files
from assent.tools.support.walk import list_files


async def workspace_files(folder: str) -> list[str]:
    return await list_files(Files(Workspace([folder], folder)), folder)
