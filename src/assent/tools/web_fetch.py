"""web_fetch: finds the addresses in the prompt, shows exactly which they are, and fetches them.

Addresses are judged by their text before approval. Names are resolved only when the call runs: a DNS lookup already
reveals the name to others, so it needs the same approval as the request.
"""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from assent.approval import InfoDetails
from assent.tools.tool import Invocation, Live, Permit, Resources, Tool, ToolResult

if TYPE_CHECKING:  # sockets and TLS are imported with the first call
    from assent.tools.support.fetched_pages import Outcome
    from assent.web.fetch import Web
    from assent.web.urls import UrlVerdict

MAX_URLS = 20


class WebFetchParams(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: Annotated[
        str,
        Meta(
            description=f"The addresses to fetch (at most {MAX_URLS}, each starting with http:// or https:// and "
            "surrounded by spaces), and what you want from them, in a sentence for the user."
        ),
    ]


class WebFetchTool(Tool[WebFetchParams]):
    name = "web_fetch"
    display_name = "WebFetch"
    description = (
        "Fetches pages from the public web and returns them as text: HTML becomes Markdown; plain text, JSON and "
        "similar formats are unchanged. Nothing is sent but the addresses. Redirects to another host are not "
        "followed: the result names the new address, so call again with it. Addresses of this machine and of local "
        "networks are refused."
    )
    kind = "fetch"
    main_argument = "prompt"
    params = WebFetchParams

    def __init__(self, web: "Web | None" = None) -> None:
        self._web = web

    @property
    def web(self) -> "Web":
        if self._web is None:
            from assent.web.fetch import Web

            self._web = Web()
        return self._web

    def invocation(self, params: WebFetchParams) -> Invocation:
        from assent.tools.support.urls_in_text import urls_in

        return WebFetchInvocation(self, params.prompt, urls_in(params.prompt, MAX_URLS))


class WebFetchInvocation(Invocation):
    def __init__(self, tool: WebFetchTool, prompt: str, verdicts: "tuple[UrlVerdict, ...]") -> None:
        self._tool = tool
        self._prompt = prompt
        self._urls = tuple(verdict.canonical for verdict in verdicts)
        self._warnings = tuple(f"{v.host}: {warning}" for v in verdicts for warning in v.warnings)

    def describe(self) -> str:
        return ", ".join(self._urls)

    def resources(self) -> Resources:
        return Resources()

    async def should_confirm(self) -> InfoDetails:
        return InfoDetails(self._prompt, self._urls, self._warnings)

    async def execute(self, permit: Permit, live: Live) -> ToolResult:
        import asyncio

        from assent.tools.support.fetched_pages import report

        return report(dict(zip(self._urls, await asyncio.gather(*map(self._fetch, self._urls)), strict=True)))

    async def _fetch(self, url: str) -> "Outcome":
        from assent.web.fetch import FetchFailed

        try:
            return await self._tool.web.fetch(url)
        except FetchFailed as error:
            return error
