"""The web_search tool, if the model's provider can search."""

from typing import NoReturn

from assent.models.model_protocol import Model, ModelError, Searching
from assent.parts import SearchAnswer
from assent.tools.tool import AnyTool, ToolFailed
from assent.tools.web_search import WebSearchTool


def search_tools(model: Model | None) -> list[AnyTool]:
    """Without a model, the tool can be judged but does not work."""
    if model is None:
        return [WebSearchTool(_no_search)]
    return [WebSearchTool(_search_of(model))] if isinstance(model, Searching) else []


def _search_of(model: Searching):
    async def search(query: str) -> SearchAnswer:
        try:
            return await model.search(query)
        except ModelError as error:
            raise ToolFailed("web_search_failed", f"The search failed: {error}") from error

    return search


async def _no_search(query: str) -> NoReturn:
    raise ToolFailed("web_search_failed", "There is no model to search with.")
