"""What a call produced, as lines: the whole of it, and the part that is shown before anyone asks for more.

It draws displays and knows nothing about calls, their states or the transcript.
"""

import re

from rich.text import Text
from textual.strip import Strip

from assent.app.wording import count, safe
from assent.front.tui.diff_view import draw_hunks, plain_header
from assent.front.tui.text_style import TextStyler
from assent.hunks import hunks
from assent.parts import DiffDisplay, Display, MarkdownDisplay, PlainDisplay, TerminalDisplay, Todo, TodosDisplay

DIFF_LINES = 16
OUTPUT_LINES = 5
FAILED_LINES = 12
"""How much is shown of a diff, of output, and of the output of something that failed."""
BRIEF_LENGTH = 40
TAIL_LENGTH = 50_000
"""Characters at the end of a long output that are looked at for its last lines."""
OMITTED = re.compile(r"^\.\.\. \[[\d,]+ characters omitted[^\n]*\] \.\.\.$", re.MULTILINE)
"""Stands for the middle of very long output, with an unknown number of lines."""
TODO_MARKS = {"completed": "✓", "in_progress": "▸", "cancelled": "⊘", "blocked": "!"}


def draw_display(styler: TextStyler, display: Display, width: int) -> list[Strip]:
    """All of it."""
    match display:
        case DiffDisplay(path=path, diff=diff):
            drawn = draw_hunks(styler, hunks(diff), path, width, "unified", plain_header(styler))
            return [strip for part in drawn for strip in part.strips]
        case TerminalDisplay(text=text):
            from assent.app.settled_output import settled

            shown = settled(text).rstrip("\n")
            return styler.terminal(shown, width) if shown else []
        case MarkdownDisplay(text=text):
            return styler.markdown(text, width)
        case PlainDisplay(text=text):
            return styler.text(text.removesuffix("\n"), "", width, context="output")
        case TodosDisplay(todos=todos):
            return [strip for todo in todos for strip in styler.lines(todo_text(styler, todo), width)]


def todo_text(styler: TextStyler, todo: Todo) -> Text:
    palette = styler.palette
    style = {"completed": palette.good, "in_progress": f"bold {palette.accent}", "blocked": palette.warn}
    text = Text(overflow="fold")
    text.append(f"{TODO_MARKS.get(todo.status, '○')} ", style.get(todo.status, palette.dim))
    words = {"in_progress": "bold", "completed": palette.dim, "cancelled": f"strike {palette.dim}"}
    said = styler.inline(todo.description)
    said.style = words.get(todo.status, "")
    return text.append_text(said)


def preview(styler: TextStyler, display: Display, width: int, *, failed: bool = False) -> list[Strip]:
    """The beginning of a diff, the end of output; nothing of what only the model needs."""
    match display:
        case DiffDisplay():
            return _first(styler, draw_display(styler, display, width), width, DIFF_LINES)
        case TerminalDisplay(text=text):
            return _last(styler, text, width, FAILED_LINES if failed else OUTPUT_LINES)
        case PlainDisplay(text=text) if failed or not brief(display):
            lines = styler.text(text.strip("\n"), styler.palette.dim, width, context="output")
            return _first(styler, lines, width, FAILED_LINES if failed else OUTPUT_LINES)
        case MarkdownDisplay():
            return _first(styler, draw_display(styler, display, width), width, OUTPUT_LINES)
        case _:
            return []


def brief(display: Display | None) -> str:
    """A display that fits on the line of its call; empty if there is none."""
    text = display.text.strip() if isinstance(display, PlainDisplay) else ""
    return "" if "\n" in text or len(text) > BRIEF_LENGTH else safe(text, "label")


def _first(styler: TextStyler, lines: list[Strip], width: int, most: int) -> list[Strip]:
    if len(lines) <= most + 1:  # the line that says so would take as much room
        return lines
    return [*lines[:most], *_more(styler, len(lines) - most, "more line", width)]


def _last(styler: TextStyler, text: str, width: int, most: int) -> list[Strip]:
    from assent.app.settled_output import settled

    tail = text[-TAIL_LENGTH:]
    left_out = text.count("\n", 0, len(text) - len(tail))
    shown = settled(tail).strip("\n")
    lines = styler.terminal(shown, width) if shown else []
    if left_out + len(lines) <= most + 1:
        return lines
    some = "more than " if OMITTED.search(text) else ""
    return [*_more(styler, left_out + len(lines) - most, "line", width, " above", some), *lines[-most:]]


def _more(styler: TextStyler, number: int, thing: str, width: int, where: str = "", some: str = "") -> list[Strip]:
    return styler.text(f"… {some}{count(number, thing)}{where}", f"italic {styler.palette.dim}", width)
