"""The web_search tool: offered as long as the provider of the model in use can search."""

from assent.models.model_protocol import Model, ModelError, Searching
from assent.parts import SearchAnswer
from assent.tools.declared import SEARCH, search_facts
from assent.tools.registry import Registry
from assent.tools.tool import AnyTool, ToolFailed


class SearchOffer:
    """Keeps the tool in the registry in step with the model. Without a model, it can be judged but does not work."""

    def __init__(self, registry: Registry, model: Model | None) -> None:
        self._registry = registry
        self._model = model
        if model is None:
            self._offer()
        else:
            self.follow(model)

    def follow(self, model: Model) -> None:
        self._model = model
        able, offered = _can_search(model), SEARCH in self._registry
        if able and not offered:
            self._offer()
        elif offered and not able:
            self._registry.discard(SEARCH)

    def _offer(self) -> None:
        self._registry.promise(search_facts(), lambda: [self._tool()])

    def _tool(self) -> AnyTool:
        from assent.tools.web_search import WebSearchTool

        return WebSearchTool(self._search)

    async def _search(self, query: str) -> SearchAnswer:
        model = self._model
        if not isinstance(model, Searching) or not model.can_search:
            raise ToolFailed("web_search_failed", "There is no model that can search the web.")
        try:
            return await model.search(query)
        except ModelError as error:
            raise ToolFailed("web_search_failed", f"The search failed: {error}") from error


def _can_search(model: Model) -> bool:
    return isinstance(model, Searching) and model.can_search
