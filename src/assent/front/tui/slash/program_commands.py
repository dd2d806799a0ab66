"""Commands about the program itself: help, about, quit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from assent import __version__
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import named

if TYPE_CHECKING:
    from assent.front.tui.slash.slash_context import SlashContext
    from assent.front.tui.slash.slash_registry import SlashRegistry


async def quit_program(context: "SlashContext", argument: str) -> None:
    context.quit()


async def about(context: "SlashContext", argument: str) -> None:
    state = context.client.state
    facts = {
        "Assent": __version__,
        "Session": state.session,
        "Title": named(state.title) or "(none yet)",
        "Folder": named(state.folder),
        "Model": named(state.model),
        "Mode": state.mode,
        "You are": named(context.client.me),
    }
    context.show(_table(facts))


def help_command(registry: "SlashRegistry") -> SlashCommand:
    """`/help` describes the other commands, so it needs the registry."""

    async def run(context: "SlashContext", argument: str) -> None:
        if not argument:
            from assent.front.tui.slash.help_page import help_document

            await context.view(help_document(registry.commands(), context.keys))
        elif command := registry.find(argument.lstrip("/")):
            context.show(about_command(command))
        else:
            context.complain(registry.unknown(argument.lstrip("/")))

    async def complete(context: "SlashContext", argument: str) -> Sequence[Candidate]:
        return [Candidate(command.name, command.help) for command in registry.commands()]

    return SlashCommand(
        name="help",
        help="Show the commands and keys",
        run=run,
        group="Program",
        usage="[COMMAND]",
        aliases=("?",),
        complete=complete,
    )


def about_command(command: SlashCommand) -> Content:
    also = f"\nAlso: {', '.join('/' + alias for alias in command.aliases)}" if command.aliases else ""
    return Content.assemble((named(command.call), "bold"), f"\n{named(command.help)}{also}")


def _table(rows: dict[str, str]) -> Content:
    names = {name: Content(named(name)) for name in rows}
    width = max(name.cell_length for name in names.values())
    lines = [_line(names[name], named(text), width) for name, text in rows.items()]
    return Content("\n").join(lines)


def _line(name: Content, text: str, width: int) -> Content:
    return Content.assemble("  ", name.stylize("$accent").pad_right(max(0, width - name.cell_length)), "  ", text)


COMMANDS = (
    SlashCommand(name="about", help="Show the version, the session and the folder", run=about, group="Program"),
    SlashCommand(
        name="quit",
        help="Quit; what is waiting for you is kept",
        run=quit_program,
        group="Program",
        aliases=("exit",),
    ),
)
