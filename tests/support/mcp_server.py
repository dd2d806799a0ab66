"""A real MCP server, written with the SDK: `mcp_server.py FOLDER [--http | --sse]`. Tests talk to it through its
folder.

`events` gets a line for each thing that happened; `tools.json`, if present, replaces the list of tools; the port of an
HTTP server is written to `port`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

FOLDER = Path(sys.argv[1])
Context = ServerRequestContext[Any, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NAMES = ("echo", "fail", "picture", "work", "wait", "crash", "environment", "child", "change", "shout")
bus = InMemorySubscriptionBus()


def note(line: str) -> None:
    with open(FOLDER / "events", "a") as file:
        file.write(line + "\n")


def tools() -> list[dict[str, Any]]:
    given = FOLDER / "tools.json"
    if given.exists():
        return json.loads(given.read_text())
    return [{"name": n, "description": f"Does {n}.", "inputSchema": TEXT if n == "echo" else {}} for n in NAMES]


async def list_tools(_: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """Four per page."""
    start = int(params.cursor) if params is not None and params.cursor else 0
    listed = tools()
    page = [types.Tool.model_validate({**t, "inputSchema": {"type": "object", **t["inputSchema"]}}) for t in listed]
    after = str(start + 4) if start + 4 < len(listed) else None
    return types.ListToolsResult(tools=page[start : start + 4], next_cursor=after)


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    note(f"call {params.name}")
    match params.name:
        case "fail":
            return types.CallToolResult(content=[types.TextContent(text="it broke")], is_error=True)
        case "picture":
            return picture()
        case "work":
            await context.session.report_progress(1, 2, "half of it")
            await context.session.report_progress(2, 2, "all of it")
            return said("worked")
        case "wait":
            try:
                await anyio.sleep_forever()
            finally:
                note("cancelled")
        case "crash":
            os._exit(3)
        case "environment":
            return said(json.dumps(dict(os.environ)))
        case "child":
            return said(str(leave_a_child()))
        case "change":
            (FOLDER / "tools.json").write_text(json.dumps([*tools(), {"name": "new", "inputSchema": {}}]))
            await bus.publish(ToolsListChanged())
            return said("changed")
        case "shout":
            return said("\x1b[31mred\x1b[0m \u202etxt")
        case _:
            return said(str((params.arguments or {}).get("text", params.name)))
    raise AssertionError


def leave_a_child() -> int:
    return subprocess.Popen(["sleep", "600"], start_new_session=True).pid


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


def picture() -> types.CallToolResult:
    page = types.TextResourceContents(uri="note:/1", text="a page")
    return types.CallToolResult(
        content=[
            types.TextContent(text="look"),
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            types.AudioContent(data="UklGRg==", mime_type="audio/wav"),
            types.ResourceLink(uri="note:/2", name="another page"),
            types.EmbeddedResource(resource=page),
        ],
    )


async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    who = types.PromptArgument(name="who", description="Whom.", required=True)
    how = types.PromptArgument(name="how")
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(name="greet", description="Greets.", arguments=[who]),
            types.Prompt(name="odd name!", description="Shows.", arguments=[who, how]),
        ]
    )


async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    text = types.TextContent(text=f"Say hello to {given['who']}{' ' + given['how'] if 'how' in given else ''}.")
    messages = [types.PromptMessage(role="user", content=text)]
    if params.name != "greet":
        picture = types.ImageContent(data=PIXEL, mime_type="image/png")
        messages.append(types.PromptMessage(role="user", content=picture))
    return types.GetPromptResult(messages=messages)


async def list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri="note:/1", name="first", mime_type="text/plain")])


async def list_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="note:/by/{name}", name="by name", description="A note by its name.")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    content = types.TextResourceContents(uri=params.uri, text=f"the text of {params.uri}")
    return types.ReadResourceResult(contents=[content])


server = Server(
    "test",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscriptions_listen=ListenHandler(bus),
)


async def talk() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def listen() -> None:
    import socket

    import uvicorn

    with socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0")))) as listening:
        (FOLDER / "port.new").write_text(str(listening.getsockname()[1]))
        os.replace(FOLDER / "port.new", FOLDER / "port")
        app = Guarded(event_stream() if "--sse" in sys.argv else server.streamable_http_app())
        uvicorn.Server(uvicorn.Config(app, log_level="critical")).run([listening])


def event_stream() -> Any:
    """The older transport: GET /sse, and POST to the address in its first event."""
    from mcp.server.sse import SseServerTransport

    transport = SseServerTransport("/messages/")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] != "/sse":
            await transport.handle_post_message(scope, receive, send)
            return
        async with transport.connect_sse(scope, receive, send) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    return app


class Guarded:
    """Accepts clients with the token in the file `token`; everyone, if there is none."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        token = FOLDER / "token"
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and token.exists() and given != f"Bearer {token.read_text()}":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, send)


if __name__ == "__main__":
    note(f"started {os.getpid()}")
    listen() if {"--http", "--sse"} & set(sys.argv) else anyio.run(talk)
