"""Tokens and logins: who has access, and revoking one."""

from typing import Annotated

from litestar import delete, get
from litestar.params import PathParameter

from assent.front.web.api_types import TokenList
from assent.front.web.params import TheAppState, TheCaller

OPERATOR = {"role": "operator"}
TokenId = Annotated[str, PathParameter(pattern=r"^[0-9a-f]{12}$")]


@get("/tokens", opt=OPERATOR)
async def list_tokens(app_state: TheAppState, caller: TheCaller) -> TokenList:
    """Valid tokens and logins, oldest first. The user who runs the server sees all; others those of their owner."""
    return TokenList(tuple(app_state.access.listed(caller.principal)))


@delete("/tokens/{token_id:str}", opt=OPERATOR)
async def revoke_token(app_state: TheAppState, caller: TheCaller, token_id: TokenId) -> None:
    """Takes effect at once, also for open streams."""
    await app_state.access.revoke(caller.principal, token_id, caller.by)
    app_state.streams.end_invalid()


ROUTES = (list_tokens, revoke_token)
