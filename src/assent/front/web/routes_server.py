"""The server itself: login and logout, who am I, health, metrics."""

from typing import Any

from litestar import Request, Response, get, post
from litestar.params import JSONBody

from assent import __version__
from assent.app.model_access import ModelError
from assent.front.web.api_types import Health, LoggedIn, Login, Me, ModelList
from assent.front.web.app_state import AppState
from assent.front.web.command_gateway import Caller
from assent.front.web.metrics import MEDIA_TYPE, exposition
from assent.front.web.params import TheAppState, TheCaller
from assent.front.web.problems import Problem
from assent.front.web.security import client_address
from assent.front.web.server_metrics import server_metrics

AnyRequest = Request[Any, Any, Any]

MODELS_TIMEOUT = 5.0
"""Seconds that providers get to say which models they have."""


@post("/login", status_code=200, opt={"role": None})
async def login(app_state: TheAppState, request: AnyRequest, data: JSONBody[Login]) -> LoggedIn:
    """Exchanges the code from the printed address for a token. A code works once."""
    address = client_address(request.scope)  # pyright: ignore
    new = await app_state.access.log_in(data.code, address)
    me = await _about(app_state, Caller(new.record.principal, address))
    return LoggedIn(new.token, me.name, me.role, new.record.expires_at or 0.0, me)


@post("/logout", status_code=204)
async def logout(app_state: TheAppState, caller: TheCaller) -> None:
    """Invalidates the token and ends its streams."""
    await app_state.access.log_out(caller.principal, caller.by)
    app_state.streams.end_invalid()


@get("/me")
async def me(app_state: TheAppState, caller: TheCaller) -> Me:
    return await _about(app_state, caller)


async def _about(app_state: AppState, caller: Caller) -> Me:
    setup = app_state.setup
    model, problem = await _model(app_state)
    mode = app_state.settings.approval_mode
    who = caller.principal
    return Me(
        name=who.name,
        role=who.role,
        version=__version__,
        roots=setup.roots,
        folder=setup.folder,
        model=model,
        mode=mode,
        by=caller.by,
        may_log_in=app_state.access.may_log_in(who),
        models=tuple(one.name for one in app_state.catalog.known()),
        problem=problem,
    )


async def _model(app_state: AppState) -> tuple[str, str]:
    """The model of new sessions, and what keeps it from being used."""
    try:
        name = await app_state.models.choose()
    except ModelError as error:
        return "", str(error)
    return name, await app_state.models.problem(name)


@get("/models", opt={"role": "operator"})
async def models(app_state: TheAppState) -> ModelList:
    """The models that can be used: those that are known, and those that providers say they have."""
    return ModelList(tuple(await app_state.catalog.choices(MODELS_TIMEOUT)))


@get("/healthz", opt={"role": None})
async def health() -> Health:
    return Health("ok")


@get("/readyz", opt={"role": None})
async def ready(app_state: TheAppState) -> Health:
    """Whether the log could be written within the last second."""
    await app_state.readiness.check()
    return Health("ok")


@get("/metrics")
async def metrics(app_state: TheAppState, caller: TheCaller) -> Response[bytes]:
    if caller.principal.owner:
        raise Problem("forbidden", "metrics cover all owners, so they need a token without an owner")
    return Response(exposition(await server_metrics(app_state)), media_type=MEDIA_TYPE)


PUBLIC_ROUTES = (health, ready, metrics)
ROUTES = (login, logout, me, models)
