"""Search in what was said, over all sessions of the caller's owner."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from assent.front.web.api_types import SearchResult
from assent.front.web.content_search import search
from assent.front.web.params import TheAppState, TheCaller


@get("/search")
async def find(
    app_state: TheAppState,
    caller: TheCaller,
    wanted: Annotated[str, QueryParameter(name="query", min_length=1, max_length=200)],
    limit: Annotated[int, QueryParameter(ge=1, le=100)] = 20,
) -> SearchResult:
    """Sessions where a prompt or a reply has all these words, newest first."""
    mine = await app_state.log.sessions(caller.principal.owner)
    found, complete = await search(app_state.log, mine, wanted, limit)
    return SearchResult(tuple(found), complete)


ROUTES = (find,)
