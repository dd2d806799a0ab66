"""web_search: asks the model's provider to search the web. The caller provides the search; no page is opened here."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta, Struct

from assent.approval import InfoDetails
from assent.parts import PlainDisplay, SearchAnswer
from assent.tools.tool import InvalidParams, Invocation, Live, Permit, Resources, Tool, ToolFailed, ToolResult

Search = Callable[[str], Awaitable[SearchAnswer]]
"""Raises ToolFailed."""


class WebSearchParams(Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="What to search the web for.")]


class WebSearchTool(Tool[WebSearchParams]):
    name = "web_search"
    display_name = "WebSearch"
    description = (
        "Searches the web and returns an answer based on the pages found, with numbered sources. To read a "
        "source itself, call web_fetch with its address."
    )
    kind = "fetch"
    main_argument = "query"
    params = WebSearchParams

    def __init__(self, search: Search) -> None:
        self.search = search

    def invocation(self, params: WebSearchParams) -> Invocation:
        query = " ".join(params.query.split())
        if not query:
            raise InvalidParams("query must not be empty")
        return WebSearchInvocation(self, query)


class WebSearchInvocation(Invocation):
    def __init__(self, tool: WebSearchTool, query: str) -> None:
        self._tool = tool
        self._query = query

    def describe(self) -> str:
        return self._query

    def resources(self) -> Resources:
        return Resources()

    async def should_confirm(self) -> InfoDetails:
        return InfoDetails(f"Search the web for: {self._query}")

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        found = await self._tool.search(self._query)
        if not found.text.strip():
            raise ToolFailed("web_search_failed", f'No results for "{self._query}".')
        sources = [f"[{number}] {source.title} ({source.url})" for number, source in enumerate(found.sources, 1)]
        listed = "\n\nSources:\n" + "\n".join(sources) if sources else "\n\n(No sources were named.)"
        display = PlainDisplay(f'Searched the web for "{self._query}": {len(sources)} sources')
        return ToolResult(f'Web search results for "{self._query}":\n\n{found.text.strip()}{listed}', display)
