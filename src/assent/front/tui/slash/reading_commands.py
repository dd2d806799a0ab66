"""Commands to read and to copy: the viewer for outputs and files, search in the conversation, the clipboard."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import named

if TYPE_CHECKING:
    from assent.front.tui.slash.slash_context import SlashContext
    from assent.front.tui.viewer import Document


async def view(context: "SlashContext", argument: str) -> None:
    from assent.front.tui.documents import file_document

    if argument:
        path = argument.removeprefix("@").strip('"')
        output = context.reading.output_in(path)
        await context.view(output or file_document(path, await context.host.read_text(path)))
    elif (document := context.reading.newest_output()) is not None:
        await context.view(document)
    else:
        context.complain("There is no output to view yet. To view a file: /view PATH")


async def complete_view(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(path) for path in await context.host.files() if not path.endswith("/")]


async def search(context: "SlashContext", argument: str) -> None:
    await context.view(context.reading.conversation(), search=argument)


async def copy(context: "SlashContext", argument: str) -> None:
    what, _, number = argument.partition(" ")
    match what:
        case "" | "answer":
            text = context.reading.answer()
        case "code":
            text = context.reading.code(int(number) if number.isdigit() else 0)
        case "command":
            text = context.reading.command()
        case "output":
            document = context.reading.newest_output()
            text = await _all_of(document) if document is not None else ""
        case "all":
            text = context.reading.conversation().text
        case _:
            context.complain(f"There is no /copy {named(what)}; use answer, code, command, output or all.")
            return
    context.copy(text)


async def _all_of(document: "Document") -> str:
    """If not all of it is on the screen, and all of it can be read, then that."""
    if document.whole is not None:
        with suppress(Exception):
            document = await document.whole()
    return document.text


async def complete_copy(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [
        Candidate("answer", "the last reply"),
        Candidate("code", "its last code block; `code 1` is the first"),
        Candidate("command", "the last command"),
        Candidate("output", "the last output"),
        Candidate("all", "the whole conversation"),
    ]


async def include(context: "SlashContext", argument: str) -> None:
    if text := context.reading.own_command():
        context.paste_into_prompt(text)
    else:
        context.complain("There is nothing to include yet. Run a command with `!` first, for example: !git status")


COMMANDS = (
    SlashCommand(
        name="include",
        help="Put your last ! command and its output into your message, for the model",
        run=include,
        group="Session",
    ),
    SlashCommand(
        name="view",
        help="Show the last output, or a file, on the whole screen",
        run=view,
        group="Information",
        usage="[PATH]",
        complete=complete_view,
    ),
    SlashCommand(
        name="search",
        help="Search the conversation",
        run=search,
        group="Information",
        usage="[TEXT]",
    ),
    SlashCommand(
        name="copy",
        help="Copy the last answer, a code block, a command or its output",
        run=copy,
        group="Information",
        usage="[answer | code [N] | command | output | all]",
        complete=complete_copy,
    ),
)
