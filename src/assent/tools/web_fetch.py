"""web_fetch, as it is declared; what a call does is in `web_fetch_call`, imported with the first call."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from assent.tools.base import Invocation, Tool

if TYPE_CHECKING:  # sockets and TLS come with the first call
    from assent.web.fetch import Web

MOST_URLS = 20


class WebFetchParams(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: Annotated[
        str,
        Meta(
            description=f"The addresses to fetch (at most {MOST_URLS}, each beginning with http:// or https:// and "
            "with blanks around it), and what you want from them, in a sentence for the user."
        ),
    ]


class WebFetchTool(Tool[WebFetchParams]):
    name = "web_fetch"
    display_name = "WebFetch"
    description = (
        "Fetches pages of the public web and returns them as text: HTML becomes Markdown; plain text, JSON and the "
        "like come as they are. Nothing is sent but the addresses. A page that has moved to another host is not "
        "followed: the result names the new address, call again with it. Addresses of this machine and of local "
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
        from assent.tools.web_fetch_call import WebFetchInvocation, urls_in

        return WebFetchInvocation(self, params.prompt, urls_in(params.prompt))
