"""What the routes take besides bodies: the caller, ids by their pattern, paging."""

from typing import Annotated

from litestar.di import NamedDependency
from litestar.params import HeaderParameter, PathParameter, QueryParameter

from assent.front.web.app_state import AppState
from assent.front.web.command_gateway import Caller

TheAppState = NamedDependency[AppState]
TheCaller = NamedDependency[Caller]
SessionId = Annotated[str, PathParameter(pattern=r"^[0-9]{8}-[0-9]{6}-[0-9a-f]{16}$")]
CallId = Annotated[str, PathParameter(pattern=r"^[!-.0-~]{1,256}$")]
ShortId = Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
Offset = Annotated[int, QueryParameter(ge=0, le=1_000_000_000)]
IdempotencyKey = Annotated[str | None, HeaderParameter(name="Idempotency-Key", pattern=r"^[A-Za-z0-9_.~-]{1,128}$")]
