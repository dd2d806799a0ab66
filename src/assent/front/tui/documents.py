"""What the viewer can show and what can be copied: a call with its output, a reply, a file, the whole conversation."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.strip import Strip

from assent.app.call_states import Terminal, ToolCall
from assent.app.output_folders import output_file
from assent.app.settled_output import settled
from assent.app.wording import call_about, ended_badly, first_text
from assent.front.tui.call_view import above_output, mark, whole_call
from assent.front.tui.display_view import OMITTED
from assent.front.tui.text_style import TextStyler, plain
from assent.front.tui.transcript_model import CallItem, Item, NoteItem, PromptItem, ReplyItem, ThoughtItem
from assent.front.tui.viewer import Document
from assent.parts import DiffDisplay, PlainDisplay, TerminalDisplay, TodosDisplay

if TYPE_CHECKING:
    from assent.app.output_folders import WholeText

HIGHLIGHT_LIMIT = 100_000
"""Characters; a longer file is shown without syntax highlighting."""
OUTPUT_IN_CONVERSATION = 400
"""Lines of one output in the text of the whole conversation."""
LAST_KNOWN = 200
"""Characters at the end of a file by which that place is found in what is shown of the output."""
_CODE_BLOCK = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)

Calls = Mapping[str, ToolCall]
Kept = Callable[[str], "Awaitable[WholeText | None]"]
"""Finds the whole output of a call by its id; None if it was not kept."""


# --- documents ---


def document_of(item: Item, calls: Calls, kept: Kept) -> Document | None:
    """None for what has nothing to read."""
    match item:
        case CallItem() if (call := calls.get(item.call_id)) is not None:
            return call_document(call, kept)
        case PromptItem() | ReplyItem() | NoteItem() | ThoughtItem():
            text = text_of(item, calls)
            return text_document(_title(item), text)
        case _:
            return None


def call_document(call: ToolCall, kept: Kept) -> Document:
    title = f"{call.request.tool}  {' '.join(call_about(call.request).split())}"
    whole = partial(_whole_document, call, title, kept) if is_elsewhere(call) else None
    return Document(title, lambda styler, width: whole_call(styler, call, width), output_of(call), whole)


def is_elsewhere(call: ToolCall) -> bool:
    """Whether what is shown of its output refers to the file with all of it."""
    match call.display if isinstance(call, Terminal) else None:
        case TerminalDisplay(text=text) | PlainDisplay(text=text):
            return output_file(call.request.call_id) in text
        case _:
            return False


async def _whole_document(call: ToolCall, title: str, kept: Kept) -> Document:
    from assent.front.tui.long_text import LongText

    found = await kept(call.request.call_id)
    if found is None:
        raise FileNotFoundError("the file with all of it is gone")
    follows = _what_follows(call, found)
    text = await asyncio.to_thread(LongText, f"{found.text.rstrip()}\n{follows}" if follows else found.text)
    return Document(title, lambda styler, width: text.drawn(above_output(styler, call, width), width), text.text)


def _what_follows(call: ToolCall, found: "WholeText") -> str:
    """What comes after the text of the file: the end of the output, if the file is cut, or notes of our own."""
    *_, end = OMITTED.split(output_of(call))
    if found.is_cut:
        return f"... [no more was kept; the end of the output follows] ...{end}"
    _, known, notes = end.rpartition(found.text.rstrip()[-LAST_KNOWN:])
    is_command = isinstance(call, Terminal) and isinstance(call.display, TerminalDisplay)
    return notes.strip("\n") if known and is_command else ""


def text_document(title: str, text: str) -> Document:
    return Document(title, lambda styler, width: styler.terminal(text.removesuffix("\n"), width), text)


def file_document(path: str, text: str) -> Document:
    def draw(styler: TextStyler, width: int) -> Sequence[Strip]:
        from rich.syntax import Syntax

        shown = plain(text, "output").removesuffix("\n").expandtabs(4)
        lexer = Syntax.guess_lexer(path) if len(text) <= HIGHLIGHT_LIMIT else "default"
        if lexer == "default":
            return styler.terminal(shown, width)
        code = Syntax(shown, lexer, theme=styler.code_theme, line_numbers=True, word_wrap=True)
        return styler.lines(code, width)

    return Document(path, draw, text)


def conversation_document(items: Iterable[Item], calls: Calls) -> Document:
    return text_document("The conversation", "\n\n".join(_told(items, calls)))


def _told(items: Iterable[Item], calls: Calls) -> Iterator[str]:
    for item in items:
        match item:
            case PromptItem():
                yield f"\x1b[1m❯ {item.text.rstrip()}\x1b[0m"
            case ReplyItem():
                yield f"✦ {item.text.strip()}"
            case NoteItem():
                yield f"· {item.text.strip()}"
            case CallItem() if (call := calls.get(item.call_id)) is not None:
                yield _told_call(call)
            case _:
                pass


def _told_call(call: ToolCall) -> str:
    ended = ended_badly(call) if isinstance(call, Terminal) else ""
    head = f"{mark(call)} {call.request.tool}  {call_about(call.request)}{ended and f'  ({ended})'}"
    lines = output_of(call).rstrip("\n").split("\n")
    if len(lines) > OUTPUT_IN_CONVERSATION:
        half = OUTPUT_IN_CONVERSATION // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half:,} lines left out", *lines[-half:]]
    return "\n".join([head, *(f"    {line}" for line in lines if lines != [""])])


def _title(item: Item) -> str:
    match item:
        case PromptItem():
            return "Your message"
        case ReplyItem():
            return "The reply"
        case ThoughtItem():
            return "Thoughts"
        case _:
            return "Note"


# --- text, for copying ---


def text_of(item: Item, calls: Calls) -> str:
    match item:
        case PromptItem() | ReplyItem() | NoteItem():
            return item.text
        case ThoughtItem():
            return "\n\n".join("\n".join(filter(None, thought)) for thought in item.thoughts)
        case CallItem() if (call := calls.get(item.call_id)) is not None:
            return output_of(call) or command_of(call)
        case _:
            return ""


def command_of(call: ToolCall) -> str:
    command = call.request.args.get("command")
    return command if isinstance(command, str) else first_text(call.request)


def output_of(call: ToolCall) -> str:
    """What the call produced, as text without colours."""
    if not isinstance(call, Terminal):
        return ""
    match call.display:
        case DiffDisplay(diff=diff):
            return diff
        case TodosDisplay(todos=todos):
            return "\n".join(f"[{todo.status}] {todo.description}" for todo in todos)
        case TerminalDisplay(text=text):
            return plain(settled(text), "terminal")
        case None:
            return str(call.result.response.get("output") or call.result.response.get("error") or "")
        case display:
            return display.text


def code_blocks(markdown: str) -> list[str]:
    """The content of each fenced block."""
    return [found[2].rstrip("\n") for found in _CODE_BLOCK.finditer(markdown)]
