"""The tools of a session: the built-in ones, and what its model's provider can do besides."""

from typing import NoReturn

from assent.files.workspace import Workspace
from assent.models.base import Model, ModelError, Searching
from assent.parts import SearchAnswer
from assent.tools.base import AnyTool, ToolFailed
from assent.tools.builtin import builtin_tools
from assent.tools.web_search import WebSearchTool


def session_tools(workspace: Workspace, model: Model) -> list[AnyTool]:
    found = builtin_tools(workspace)
    return [*found, WebSearchTool(_search_of(model))] if isinstance(model, Searching) else found


def every_tool(workspace: Workspace) -> list[AnyTool]:
    """For judging only: also those that need some model."""
    return [*builtin_tools(workspace), WebSearchTool(_no_search)]


def _search_of(model: Searching):
    async def search(query: str) -> SearchAnswer:
        try:
            return await model.search(query)
        except ModelError as error:
            raise ToolFailed("web_search_failed", f"The search failed: {error}") from error

    return search


async def _no_search(query: str) -> NoReturn:
    raise ToolFailed("web_search_failed", "There is no model here that can search.")
