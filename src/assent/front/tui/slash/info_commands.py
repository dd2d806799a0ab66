"""Commands that show information: tools, MCP servers, memory, statistics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.content import Content

from assent.app.wording import count, safe
from assent.commands import ReloadContext
from assent.front.tui.lists import Column, ListScreen, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.server_prompt_command import prompt_slash
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import action, carry_out, choose, named, size, still
from assent.front.tui.small_screens import PageScreen
from assent.front.tui.stats import model_stats, session_stats, tool_stats

if TYPE_CHECKING:
    from assent.app.mcp_types import Prompt
    from assent.front.tui.host import MemoryFile, ServerInfo
    from assent.front.tui.slash.slash_context import SlashContext

_STATE_STYLES = {"ready": "$success", "failed": "$error", "disconnected": "$warning"}


@runtime_checkable
class Restarts(Protocol):
    """A host that can restart an MCP server."""

    async def restart_server(self, name: str) -> None: ...


# --- tools ---


async def tools(context: "SlashContext", argument: str) -> None:
    """Those of the next request."""
    planning = context.client.state.mode == "plan"
    offered = ("always", "in plan mode") if planning else ("always",)
    found = {tool.name: tool for tool in context.host.tools() if tool.offered in offered}
    rows = [
        Row(tool.name, (tool.name, tool.kind, tool.server or "built in"), tool.description) for tool in found.values()
    ]

    async def describe(row: Row) -> None:
        tool = found[row.key]
        head = f"Kind: {tool.kind}{f', from the server {tool.server}' if tool.server else ''}"
        await context.push(PageScreen(named(tool.name), Content(safe(f"{head}\n\n{tool.description}"))))

    columns = (Column("Tool"), Column("Kind", spare=1), Column("From", spare=2))
    actions = [action(context, "enter", "describe", describe)]
    await context.push(ListScreen("Tools", columns, still(rows), actions, empty="There are no tools."))


# --- servers ---


async def mcp(context: "SlashContext", argument: str) -> None:
    async def source() -> Sequence[Row]:
        return [
            Row(
                server.name,
                (server.name, server.state, _offers(server)),
                server.problem,
                _STATE_STYLES.get(server.state, ""),
            )
            for server in context.host.servers()
        ]

    async def describe(row: Row) -> None:
        await context.push(PageScreen(row.cells[0], Content(safe(_server_text(context, row.key)))))

    actions = [action(context, "enter", "describe", describe)]
    if isinstance(host := context.host, Restarts):

        async def restart(row: Row) -> None:
            await host.restart_server(row.key)

        actions.append(action(context, "r", "restart", restart))
    columns = (Column("Server"), Column("State"), Column("Offers"))
    empty = "There are no MCP servers. Add one with `assent mcp add NAME -- COMMAND`, or in settings.toml."
    await choose(context, "MCP servers", columns, source, actions, empty)


def _server_text(context: "SlashContext", name: str) -> str:
    server = next((server for server in context.host.servers() if server.name == name), None)
    if server is None:
        return "This server no longer exists."
    tools = [f"  {tool.name}: {tool.description}" for tool in context.host.tools() if tool.server == name]
    prompts = [f"  {_prompt_line(prompt)}" for prompt in context.host.server_prompts() if prompt.server == name]
    resources = [f"  @{each.mention}: {each.name}" for each in context.host.server_resources() if each.server == name]
    problem = [f"Problem: {server.problem}"] if server.problem else []
    lines = [f"State: {server.state}", *problem, "", count(len(tools), "tool"), *tools]
    lines += ["", count(len(prompts), "prompt"), *prompts] if prompts else []
    lines += ["", count(len(resources), "resource"), *resources] if resources else []
    return "\n".join(lines)


def _prompt_line(prompt: "Prompt") -> str:
    command = prompt_slash(prompt)
    about = [f"      {each.name}: {each.description}" for each in prompt.arguments if each.description]
    return "\n".join([f"{command.call}: {command.help}", *about])


def _offers(server: "ServerInfo") -> str:
    more = [(server.prompts, "prompt"), (server.resources, "resource")]
    return ", ".join([count(server.tools, "tool"), *(count(number, thing) for number, thing in more if number)])


# --- memory ---


async def memory(context: "SlashContext", argument: str) -> None:
    verb, _, rest = argument.partition(" ")
    match verb:
        case "" | "list":
            await _list_memory(context)
        case "show":
            _show_memory(context)
        case "add" if rest.strip():
            await _add_memory(context, rest.strip())
        case "add":
            context.complain("Give the text to remember: /memory add TEXT")
        case "reload":
            if await carry_out(context, ReloadContext(by=context.client.me)):
                context.say("The context files have been read again.")
        case _:
            context.complain(f"There is no /memory {named(verb)}; use list, show, reload or add TEXT.")


async def _list_memory(context: "SlashContext") -> None:
    files = {file.path: file for file in context.host.memory()}
    rows = [_memory_row(file) for file in files.values()]

    async def read(row: Row) -> None:
        await context.push(PageScreen(named(row.key), Content(safe(files[row.key].text or "(empty, or not read)"))))

    columns = (Column("File"), Column("Size", right=True, spare=1), Column(""))
    empty = "No context files. An ASSENT.md in the folder or next to your settings is sent to the model."
    await context.push(
        ListScreen("Memory", columns, still(rows), [action(context, "enter", "read", read)], empty=empty)
    )


def _memory_row(file: "MemoryFile") -> Row:
    why = f"Left out: {file.problem}\n" if file.problem else ""
    state = "sent to the model" if file.loaded else "left out"
    return Row(file.path, (file.path, size(file.size), state), why + file.text[:300])


def _show_memory(context: "SlashContext") -> None:
    told = [file for file in context.host.memory() if file.loaded]
    if not told:
        context.say("No context file is sent to the model.")
    for file in told:
        context.show(Content.assemble((named(file.path), "bold"), "\n", Content(safe(file.text))))


async def _add_memory(context: "SlashContext", fact: str) -> None:
    from assent.app.person_calls import remember_command

    command = remember_command(fact, context.client.me)
    if all(tool.name != command.tool for tool in context.host.tools()):
        context.complain("The tool for remembering is not available here.")
    else:
        await carry_out(context, command)


async def complete_memory(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [
        Candidate("list", "the files and their sizes"),
        Candidate("show", "everything that is sent to the model"),
        Candidate("reload", "read the files again"),
        Candidate("add", "remember a fact"),
    ]


# --- statistics ---


async def stats(context: "SlashContext", argument: str) -> None:
    tally = context.feed.tally
    match argument:
        case "" | "session":
            context.show(session_stats(tally))
        case "model":
            context.show(model_stats(tally))
        case "tools":
            context.show(tool_stats(tally))
        case _:
            context.complain(f"There is no /stats {named(argument)}; use session, model or tools.")


async def complete_stats(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [
        Candidate("session", "everything at a glance"),
        Candidate("model", "each model"),
        Candidate("tools", "each tool"),
    ]


COMMANDS = (
    SlashCommand(name="tools", help="List the model's tools", run=tools, group="Information"),
    SlashCommand(name="mcp", help="List the MCP servers and their state", run=mcp, group="Information"),
    SlashCommand(
        name="memory",
        help="Show the notes that are sent to the model, or add one",
        run=memory,
        group="Information",
        usage="[show | reload | add TEXT]",
        complete=complete_memory,
    ),
    SlashCommand(
        name="stats",
        help="Show tokens, cost, time and tools",
        run=stats,
        group="Information",
        usage="[model | tools]",
        aliases=("usage",),
        complete=complete_stats,
    ),
)
