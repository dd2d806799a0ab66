"""A tool call in the transcript: a line with its state, subject and time; below it live output, or its body."""

from rich.text import Text
from textual.strip import Strip

from assent.app.call_states import (
    AwaitingApproval,
    Cancelled,
    Executing,
    Failed,
    Scheduled,
    Success,
    Terminal,
    ToolCall,
    Validating,
)
from assent.app.wording import call_about, count, editing, ended_badly, first_text, safe, took
from assent.front.tui.diff_view import draw_hunks, plain_header
from assent.front.tui.text_style import TextStyler, barred, ends
from assent.hunks import hunks
from assent.parts import DiffDisplay, Display, MarkdownDisplay, PlainDisplay, TerminalDisplay, TodosDisplay

LIVE_LINES = 8
BODY_LINES = 400
MARKS = {
    Validating: "·",
    AwaitingApproval: "?",
    Scheduled: "·",
    Executing: "▸",
    Success: "✓",
    Failed: "✗",
    Cancelled: "⊘",
}


def draw_call(styler: TextStyler, call: ToolCall, width: int, *, unfolded: bool, names: dict[str, str]) -> list[Strip]:
    lines = [_head(styler, call, width, unfolded=unfolded, names=names)]
    inner = max(width - 4, 10)
    match call:
        case Executing():
            lines += _under(styler, _live(styler, call, inner, LIVE_LINES * 5 if unfolded else LIVE_LINES))
        case Failed():
            lines += _under(styler, styler.text(_brief(call.failure.message), styler.palette.bad, inner))
        case _:
            pass
    if unfolded:
        lines += _under(styler, _body(styler, call, inner))
    return lines


def _under(styler: TextStyler, strips: list[Strip]) -> list[Strip]:
    return barred(strips, styler.palette.dim, "  │ ")


def _head(styler: TextStyler, call: ToolCall, width: int, *, unfolded: bool, names: dict[str, str]) -> Strip:
    name = names.get(call.request.tool, call.request.tool)
    about = " ".join(safe(call_about(call.request), "label").split())
    left = Text.assemble(
        (f"{_mark(call)} ", _colour(styler, call)),
        (safe(name, "label"), "bold"),
        (f"  {about}", ""),
    )
    return ends(left, _right(styler, call, unfolded=unfolded), width, styler)


def _mark(call: ToolCall) -> str:
    return "!" if isinstance(call, Success) and ended_badly(call) else MARKS[type(call)]


def _colour(styler: TextStyler, call: ToolCall) -> str:
    match call:
        case Success() if ended_badly(call):
            return styler.palette.warn
        case Success():
            return styler.palette.good
        case Failed():
            return styler.palette.bad
        case AwaitingApproval() | Cancelled():
            return styler.palette.warn
        case Executing():
            return styler.palette.accent
        case _:
            return styler.palette.dim


def _right(styler: TextStyler, call: ToolCall, *, unfolded: bool) -> Text:
    words = Text(style=styler.palette.dim)
    if isinstance(call, AwaitingApproval):
        doing = safe(editing(call.modifying_by), "label") if call.modifying_by else "waiting for an answer"
        words.append(doing, styler.palette.warn)
    if isinstance(call, Terminal):
        if isinstance(call.display, DiffDisplay):
            words.append(f"+{call.display.added}", styler.palette.good).append(" ")
            words.append(f"-{call.display.removed}", styler.palette.bad).append("  ")
        if ended := ended_badly(call):
            words.append(f"{ended}  ", styler.palette.warn)
        words.append(f"{took(call)} {'▾' if unfolded else '▸'}")
    return words


def _brief(message: str) -> str:
    first, _, more = message.strip().partition("\n")
    return f"{first} …" if more else first


# --- below the line ---


def _live(styler: TextStyler, call: Executing, width: int, limit: int) -> list[Strip]:
    """The newest lines; an overwritten line shows its current content."""
    if call.received:
        return styler.text(f"{call.received:,} bytes of binary output", styler.palette.dim, width)
    if not call.output.strip():
        return []
    newest = call.output[-200 * limit :].replace("\r\n", "\n").split("\n")
    shown = [line.rstrip("\r").rpartition("\r")[2] for line in newest]
    return styler.terminal("\n".join(shown).rstrip("\n"), width)[-limit:]


def _body(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    lines = _arguments(styler, call, width)
    match call:
        case (
            Success(display=display, result=result)
            | Failed(display=display, result=result)
            | Cancelled(display=display, result=result)
        ):
            shown = (
                draw_display(styler, display, width) if display else styler.text(_as_text(result.response), "", width)
            )
            lines += shown
        case _:
            pass
    if len(lines) > BODY_LINES:
        more = count(len(lines) - BODY_LINES, "more line")
        lines = [*lines[:BODY_LINES], *styler.text(f"… {more}", styler.palette.dim, width)]
    return lines


def _arguments(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    """The other arguments, if the head line does not show everything."""
    about = first_text(call.request)
    rest = [(name, value) for name, value in call.request.args.items() if value != about and len(str(value)) < 200]
    lines: list[Strip] = []
    if "\n" in about or len(about) > width:
        lines += styler.text(about, "", width)
    for name, value in rest:
        lines += styler.text(f"{name}: {value}", styler.palette.dim, width)
    return lines


def draw_display(styler: TextStyler, display: Display, width: int) -> list[Strip]:
    match display:
        case DiffDisplay(path=path, diff=diff):
            drawn = draw_hunks(styler, hunks(diff), path, width, "unified", plain_header(styler))
            return [strip for part in drawn for strip in part.strips]
        case TerminalDisplay(text=text):
            from assent.front.tui.terminal_output import settled

            return styler.terminal(settled(text).rstrip("\n"), width)
        case MarkdownDisplay(text=text):
            return styler.markdown(text, width)
        case PlainDisplay(text=text):
            return styler.text(text, "", width, context="output")
        case TodosDisplay(todos=todos):
            marks = {"completed": "✓", "in_progress": "▸", "cancelled": "⊘", "blocked": "!"}
            lines = [f"{marks.get(todo.status, '·')} {todo.description}" for todo in todos]
            return styler.text("\n".join(lines), "", width, context="output")


def _as_text(response: dict[str, object]) -> str:
    """What the model gets, if there is nothing better to show."""
    for key in ("output", "error"):
        if isinstance(value := response.get(key), str):
            return value
    return str(response)
