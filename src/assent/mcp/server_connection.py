"""One connection to one server: what it offers, and calls. Knows the SDK and hides it from everyone else.

We offer a server nothing in return: no sampling, no questions to the user, no file list. Output schemas are not
checked: they are the server's own words about its own answers, and a regular expression in them is code.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar

import mcp_types as sdk
from mcp.client import Client, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from pydantic import TypeAdapter, ValidationError

from assent import __version__
from assent.mcp.definitions import Offer
from assent.mcp.http_transport import refusal
from assent.mcp.intercept import Intercept, Refused
from assent.mcp.kept_results import Keep, Part
from assent.mcp.notifications import Era, NotConnected, NotificationListener, OlderTransport, Undelivered
from assent.mcp.offers import Argument, Offers, Prompt, Resource, Template
from assent.mcp.results import to_parts, to_tool_result
from assent.mcp.transport import open_transport
from assent.mcp_config import McpServer, MissingVariable
from assent.parts import JsonObject
from assent.screen import make_safe
from assent.tools.tool import ToolFailed, ToolResult

PAGES = 100
SETTLE_TIMEOUT = 3.0
"""Seconds for pending requests when a connection is lost. A rejected request can be sent again, if we know of it."""
_UNKNOWN = "Whether it took effect is unknown; it was not tried again."
_CallAnswer = TypeAdapter[sdk.CallToolResult | sdk.InputRequiredResult](sdk.CallToolResult | sdk.InputRequiredResult)

for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # otherwise its warnings appear on the person's screen


@asynccontextmanager
async def connect(
    server: McpServer, folder: str, env: Mapping[str, str], listener: NotificationListener, era: Era = "auto"
) -> AsyncGenerator["ServerConnection"]:
    """Raises NotConnected, or an SDK exception; `why` turns that into words."""
    told, intercept = _Notifications(listener), Intercept(listener)
    client = Client(
        open_transport(server, folder, env, listener, era, intercept),
        read_timeout_seconds=server.entry.start_timeout,
        message_handler=told.message,
        logging_callback=told.log,
        client_info=sdk.Implementation(name="assent", version=__version__),
        cache=None,
        mode="auto" if era == "auto" else "legacy",
    )
    async with contextlib.AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(client)
        except MissingVariable:
            raise
        except Exception as error:
            raise _without_connection(error, server) from error
        intercept.greeted(client.protocol_version)
        listening = asyncio.create_task(_listen(client, listener))
        try:
            yield ServerConnection(server, client, intercept)
            await intercept.settled(SETTLE_TIMEOUT)
        finally:
            listening.cancel()
            await asyncio.wait([listening])


def _without_connection(error: Exception, server: McpServer) -> NotConnected:
    match _first(error):
        case MCPError(error=sdk.ErrorData(data=Refused(status=status))) if status in range(400, 500):
            kind = NotConnected if status in (401, 403, 429) else OlderTransport
            return kind(refusal(status))
        case _:
            return NotConnected(why(error, server))


class _Notifications:
    """Unsolicited messages from a server."""

    def __init__(self, listener: NotificationListener) -> None:
        self._listener = listener

    async def message(self, message: IncomingMessage) -> None:
        match message:
            case (
                sdk.ToolListChangedNotification()
                | sdk.PromptListChangedNotification()
                | sdk.ResourceListChangedNotification()
            ):
                self._listener.changed()
            case Exception():
                self._listener.log_line(f"{type(message).__name__}: {message}")
            case _:
                pass

    async def log(self, params: sdk.LoggingMessageNotificationParams) -> None:
        self._listener.log_line(f"{params.level}: {params.data}")


async def _listen(client: Client, listener: NotificationListener) -> None:
    """Newer servers report changes only to subscribers; older ones use `_Notifications.message`."""
    with contextlib.suppress(MCPError, ListenNotSupportedError, TimeoutError):
        while True:
            with contextlib.suppress(SubscriptionLost):
                everything = client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                )
                async with everything as events:
                    async for _ in events:
                        listener.changed()
                return
            listener.changed()  # something may have been missed


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


G = TypeVar("G", bound=_Page)
R = TypeVar("R")


class ServerConnection:
    def __init__(self, server: McpServer, client: Client, intercept: Intercept) -> None:
        self._server = server
        self._client = client
        self._intercept = intercept

    # --- what it offers ---

    async def offers(self) -> Offers:
        can = self._client.server_capabilities
        self._intercept.dropped.clear()
        return Offers(
            tuple(await self._tools()) if can.tools is not None else (),
            tuple(await self._prompts()) if can.prompts is not None else (),
            tuple(await self._resources()) if can.resources is not None else (),
            tuple(await self._templates()) if can.resources is not None else (),
            tuple(self._intercept.dropped),
        )

    async def _tools(self) -> list[Offer]:
        pages = [page async for page in _pages(lambda cursor: self._client.list_tools(cursor=cursor))]
        return [_offer(tool) for page in pages for tool in page.tools]

    async def _prompts(self) -> list[Prompt]:
        pages = [page async for page in _pages(lambda cursor: self._client.list_prompts(cursor=cursor))]
        return [_prompt(self._server.name, prompt) for page in pages for prompt in page.prompts]

    async def _resources(self) -> list[Resource]:
        pages = [page async for page in _pages(lambda cursor: self._client.list_resources(cursor=cursor))]
        return [_resource(self._server.name, resource) for page in pages for resource in page.resources]

    async def _templates(self) -> list[Template]:
        """Few servers have some, and many that have none do not know the request."""
        try:
            pages = [page async for page in _pages(lambda cursor: self._client.list_resource_templates(cursor=cursor))]
        except MCPError as error:
            if error.code != sdk.METHOD_NOT_FOUND:
                raise
            return []
        return [_template(self._server.name, template) for page in pages for template in page.resource_templates]

    # --- what it does ---

    async def call(self, tool: str, args: JsonObject, tell: Callable[[str], None], keep: Keep) -> ToolResult:
        """Cancelling this tells the server. Raises ToolFailed."""

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            tell(progress_line(progress, total, message))

        request = sdk.CallToolRequest(params=sdk.CallToolRequestParams(name=tool, arguments=args))
        sent = self._client.session.send_request(request, _CallAnswer, self._server.entry.timeout, None, on_progress)
        answer = await self._answered(sent)
        if isinstance(answer, sdk.InputRequiredResult):
            raise ToolFailed(
                "mcp_input_required", "The server wants to ask something during the call; that is not supported."
            )
        return await asyncio.to_thread(
            to_tool_result, self._server.name, answer, keep
        )  # the message may be millions of words long

    async def prompt(self, name: str, args: Mapping[str, str]) -> tuple[Part, ...]:
        answer = await self._answered(self._client.get_prompt(name, dict(args)))
        return to_parts(message.content for message in answer.messages)

    async def read(self, uri: str, keep: Keep | None = None) -> tuple[Part, ...]:
        answer = await self._answered(self._client.read_resource(uri))
        return await asyncio.to_thread(to_parts, answer.contents, keep)

    async def _answered(self, request: Awaitable[R]) -> R:
        try:
            return await request
        except MCPError as error:
            raise self._failed(error) from error
        except (ValidationError, ValueError, RuntimeError) as error:
            text = f"The answer of the server {self._server.name} cannot be read: {_first_line(error)}"
            raise ToolFailed("mcp_bad_answer", text) from error

    def _failed(self, error: MCPError) -> ToolFailed | Undelivered:
        name = self._server.name
        match error.code, error.message, error.data:
            case _, _, Refused(undelivered=True, reason=reason):
                return Undelivered(reason)
            case _, _, Refused(status=0, reason=reason):
                return _lost(f"The connection to the server {name} was lost ({_safe(reason)}).")
            case _, _, Refused(status=status) if status >= 500:
                return _lost(f"The server {name} answered with HTTP status {status}.")
            case _, "Server returned an error response" | "Not Found" | "Session terminated", Refused(reason=reason):
                return ToolFailed("mcp_refused", f"The call was refused: {reason}.")
            case sdk.REQUEST_TIMEOUT, message, _ if message.endswith(" timed out"):
                limit = self._server.entry.timeout
                return ToolFailed("mcp_timeout", f"The server {name} did not answer within {limit:g} s. {_UNKNOWN}")
            case sdk.CONNECTION_CLOSED, message, _ if message.startswith(_BROKEN):
                return _lost(f"The connection to the server {name} was lost.")
            case sdk.PARSE_ERROR, message, _ if message.startswith("Failed to parse "):
                text = f"The answer of the server {name} cannot be read: {_safe(message)}. {_UNKNOWN}"
                return ToolFailed("mcp_bad_answer", text)
            case _, message, _:
                return ToolFailed("mcp_tool_error", f"The server {name} reports: {_safe(message)}")


_BROKEN = ("Connection closed", "SSE stream ended", "SSE stream failed")
"""How the SDK reports a broken connection. The code alone says little: servers also use it for their own errors."""


def _lost(what: str) -> ToolFailed:
    return ToolFailed("mcp_connection_lost", f"{what} {_UNKNOWN}")


def _safe(text: str) -> str:
    return make_safe(text.partition("\n")[0][:1000], "label").text


async def _pages(fetch: Callable[[str | None], Awaitable[G]]) -> AsyncIterator[G]:
    """All of them, within a limit. A repeated cursor would loop forever."""
    cursor: str | None = None
    seen: set[str | None] = {None}
    for _ in range(PAGES):
        page = await fetch(cursor)
        yield page
        cursor = page.next_cursor
        if cursor in seen:
            return
        seen.add(cursor)


def _offer(tool: sdk.Tool) -> Offer:
    hints = tool.annotations or sdk.ToolAnnotations()
    title = tool.title or hints.title or ""
    return Offer(tool.name, tool.description or "", tool.input_schema, title, hints.read_only_hint is True)


def _prompt(server: str, prompt: sdk.Prompt) -> Prompt:
    arguments = tuple(
        Argument(argument.name, bool(argument.required), make_safe(argument.description or "", "label").text)
        for argument in prompt.arguments or ()
    )
    return Prompt(server, prompt.name, make_safe(prompt.description or "", "label").text, arguments)


def _resource(server: str, resource: sdk.Resource) -> Resource:
    return Resource(server, resource.uri, make_safe(resource.name, "label").text, resource.mime_type or "")


def _template(server: str, template: sdk.ResourceTemplate) -> Template:
    about = make_safe(template.description or template.name, "label").text
    return Template(server, template.uri_template, about, template.mime_type or "")


def fills(uri: str, template: str) -> bool:
    """Whether the address is this template with its placeholders filled in."""
    try:
        return UriTemplate.parse(template).match(uri) is not None
    except InvalidUriTemplate:
        return False


def progress_line(done: float, total: float | None, message: str | None) -> str:
    share = f"{min(100.0, 100 * done / total):.0f} %" if total is not None and 0 < total < float("inf") else f"{done:g}"
    return f"{share} {message}\n" if message else f"{share}\n"


def _first(error: BaseException) -> BaseException:
    match error:
        case BaseExceptionGroup(exceptions=(first, *_)):
            return _first(first)
        case _:
            return error


def why(error: BaseException, server: McpServer) -> str:
    """Why there is no connection, in words for the person."""
    match first := _first(error):
        case NotConnected():
            return str(first)
        case TimeoutError():
            return f"it did not answer within {server.entry.start_timeout:g} s"
        case MCPError(error=sdk.ErrorData(data=Refused(reason=reason))):
            return reason
        case MCPError():
            return f"it says: {first.message}"
        case _:
            what = f"cannot reach {server.entry.url}: " if server.entry.url else ""
            return f"{what}{_first_line(first) or type(first).__name__}"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")
