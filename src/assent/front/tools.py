"""The tools of a session: the built-in ones, over its folder and the places of our own that belong to it."""

from collections.abc import Mapping

from assent.config import data_folder
from assent.files.private import PrivateFolder
from assent.files.workspace import Workspace
from assent.front.context import memory_file
from assent.tools.builtin import builtin_tools
from assent.tools.registry import Registry


def session_tools(env: Mapping[str, str], folder: str, session: str) -> Registry:
    data = data_folder(env)
    outputs = PrivateFolder(str(data / "outputs" / session))
    workspace = Workspace([folder], folder, own_folders=[str(data)], readable=[outputs.path])
    contents = PrivateFolder(str(data / "contents"))
    return Registry(builtin_tools(workspace, outputs=outputs, memory=memory_file(env), contents=contents))
