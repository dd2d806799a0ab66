"""The whole server as one ASGI application: access control first, then the page, the stream and the API."""

import functools
from typing import Any

from litestar import Litestar, Request, Response, Router
from litestar.config.compression import CompressionConfig
from litestar.connection import ASGIConnection
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig

from assent import __version__
from assent.app.crash import trace_of
from assent.app.session_log import KeyReused, LogError
from assent.front.web import (
    routes_audit,
    routes_background,
    routes_calls,
    routes_changes,
    routes_decisions,
    routes_phone,
    routes_prompts,
    routes_push,
    routes_search,
    routes_server,
    routes_sessions,
    routes_tokens,
    routes_uploads,
)
from assent.front.web.access_tokens import Principal
from assent.front.web.app_state import AppState
from assent.front.web.command_gateway import Caller
from assent.front.web.exchange import EXCHANGE, Exchange
from assent.front.web.openapi import describe
from assent.front.web.page_files import PageFiles
from assent.front.web.params import IdempotencyKey, TheAppState
from assent.front.web.problems import MEDIA_TYPE, Problem, kind_of
from assent.front.web.security import (
    API,
    PRINCIPAL,
    STREAM,
    AccessControl,
    Place,
    Receive,
    Scope,
    Send,
    client_address,
    is_page,
)

AnyRequest = Request[Any, Any, Any]
INTERNAL = "internal error; the server's log has it under this request_id. The sessions are intact"
COMPRESSED_FROM = 16_384
"""Bytes: compressing less is not worth the time."""
NO_BODY = "data: 'data'"
"""The framework's message for a missing body."""


def build(app_state: AppState, place: Place) -> AccessControl:
    api = _api(app_state)
    page = PageFiles()
    description = functools.cache(lambda: describe(api.openapi_schema.to_schema()))  # slow, and rarely needed

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_page(scope["path"]):
            await page(scope, send)
        elif scope["type"] == "http" and scope["path"] == "/openapi.json":
            await _send_json(send, description())
        elif scope["type"] == "http" and scope["path"] == STREAM and scope["method"] == "GET":
            await app_state.streams(scope, receive, send)
        else:
            await api(scope, receive, send)  # pyright: ignore[reportArgumentType]

    return AccessControl(
        inside,
        place,
        app_state.access.tokens,
        app_state.access.uses,
        app_state.setup.limits,
        app_state.traffic,
        app_state.server_log,
        app_state.access.request_rates,
    )


_ROUTE_MODULES = (
    routes_sessions,
    routes_calls,
    routes_decisions,
    routes_background,
    routes_changes,
    routes_prompts,
    routes_uploads,
    routes_push,
    routes_tokens,
    routes_phone,
    routes_search,
    routes_audit,
    routes_server,
)


def _api(app_state: AppState) -> Litestar:
    routes = [route for module in _ROUTE_MODULES for route in module.ROUTES]
    return Litestar(
        [Router(API, route_handlers=routes), *routes_server.PUBLIC_ROUTES],
        dependencies={
            "app_state": Provide(lambda: app_state, sync_to_thread=False),
            "caller": Provide(_caller, sync_to_thread=False),
        },
        guards=[_check_role],
        exception_handlers={
            Problem: _tell,
            HTTPException: _tell_http,
            KeyReused: _tell_reused,
            LogError: _tell_log,
            UnicodeDecodeError: _tell_unreadable,
            RecursionError: _tell_unreadable,
            Exception: _tell_unexpected,
        },
        openapi_config=OpenAPIConfig(
            "Assent",
            __version__,
            use_handler_docstrings=True,
            render_plugins=[],
            operation_id_creator=_operation_id,
        ),
        request_max_body_size=app_state.setup.limits.upload_body,
        logging_config=None,
        compression_config=CompressionConfig("gzip", minimum_size=COMPRESSED_FROM, gzip_compress_level=4),
    )


def _operation_id(handler: HTTPRouteHandler, _: object, __: object) -> str:
    """Short, so that generated clients have names that people can use."""
    return handler.fn.__name__


def _caller(app_state: TheAppState, request: AnyRequest, idempotency_key: IdempotencyKey = None) -> Caller:
    """Takes the state only to be resolved after it: the framework would resolve both in tasks, which is slower."""
    address, trace = client_address(request.scope), _exchange(request).id  # pyright: ignore
    return Caller(request.scope[PRINCIPAL], address, idempotency_key, trace)  # pyright: ignore


async def _check_role(connection: "ASGIConnection[Any, Any, Any, Any]", handler: BaseRouteHandler) -> None:
    """Asynchronous although it awaits nothing: a synchronous guard would run in a thread for every request."""
    needed = handler.opt.get("role", "viewer")
    if needed is None:
        return
    principal: Principal | None = connection.scope.get(PRINCIPAL)  # pyright: ignore
    if principal is None:
        raise Problem("unauthenticated", "a valid token is required: Authorization: Bearer TOKEN")
    if not principal.may(needed):
        raise Problem("forbidden", f"this needs the role {needed}; yours is {principal.role}")


async def _send_json(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# --- errors ---


def _exchange(request: AnyRequest) -> Exchange:
    return request.scope[EXCHANGE]  # pyright: ignore


def _tell(request: AnyRequest, problem: Problem) -> Response[bytes]:
    return Response(problem.encode(_exchange(request).id), status_code=problem.status, media_type=MEDIA_TYPE)


def _tell_http(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """The framework's own errors: unknown path, wrong method, an invalid body or parameter."""
    kind = kind_of(error.status_code)
    told = Problem(kind, _details(error) if kind != "internal" else INTERNAL)
    response = _tell(request, _no_such(error) or told)
    response.headers.update(error.headers or {})
    return response


def _mismatches(error: HTTPException) -> list[dict[str, str]]:
    """What is invalid, and why; each with its `key` and `source`."""
    found: Any = error.extra if isinstance(error.extra, list) else []
    return found


def _no_such(error: HTTPException) -> Problem | None:
    """An invalid id is reported like an unknown one."""
    names = [mismatch.get("key", "") for mismatch in _mismatches(error) if mismatch.get("source") == "path"]
    return Problem("not-found", f"there is no such {names[0].removesuffix('_id')}") if names else None


def _details(error: HTTPException) -> str:
    places = [f"{_known_as(mismatch.get('key', ''))}: {mismatch.get('message', '')}" for mismatch in _mismatches(error)]
    if not places:
        return error.detail
    if NO_BODY in places:
        return "a JSON body is required"
    return f"{error.detail.partition(' for ')[0]}: {'; '.join(places)}"


def _known_as(name: str) -> str:
    """The parameter's name as clients know it."""
    return {"wanted": "query", "only": "state", "idempotency_key": "Idempotency-Key"}.get(name, name)


def _tell_log(request: AnyRequest, error: LogError) -> Response[bytes]:
    return _tell(request, Problem("unavailable", str(error)))


def _tell_reused(request: AnyRequest, error: KeyReused) -> Response[bytes]:
    return _tell(request, Problem("invalid", str(error)))


def _tell_unreadable(request: AnyRequest, _: Exception) -> Response[bytes]:
    """For bodies that are not UTF-8, or are nested too deeply."""
    return _tell(request, Problem("bad-request", "the body is not valid JSON"))


def _tell_unexpected(request: AnyRequest, error: Exception) -> Response[bytes]:
    exchange = _exchange(request)
    exchange.log.error("unexpected", request_id=exchange.id, detail=trace_of(error))
    return _tell(request, Problem("internal", INTERNAL))
