"""A tool call in the transcript: a line with its state, subject and time; below it some of its output, or all of it."""

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
from assent.approval import AskDetails
from assent.front.tui.display_view import brief, draw_display, preview
from assent.front.tui.text_style import TextStyler, barred, ends
from assent.parts import DiffDisplay, TodosDisplay

LIVE_LINES = 8
BODY_LINES = 400
FAILURE_LINES = 4
BRIEF_WIDTH = 72
"""A narrower screen has no room for a result on the line of its call."""
TRIED = "printed in a trial, in a copy of the workspace:"
WAITS_ITS_TURN = "waiting for its turn"
"""Not for an answer, but for the answers to the other calls of its reply, or for those before it to end."""
MARKS = {
    Validating: "·",
    AwaitingApproval: "?",
    Scheduled: "·",
    Executing: "▸",
    Success: "✓",
    Failed: "✗",
    Cancelled: "⊘",
}


def draw_call(styler: TextStyler, call: ToolCall, width: int, *, unfolded: bool) -> list[Strip]:
    inner = max(width - 4, 10)
    below = _body(styler, call, inner) if unfolded else _preview(styler, call, inner)
    return [_head(styler, call, width, unfolded=unfolded), *_under(styler, below)]


def _under(styler: TextStyler, strips: list[Strip]) -> list[Strip]:
    return barred(strips, styler.palette.dim, "  │ ")


def _head(styler: TextStyler, call: ToolCall, width: int, *, unfolded: bool) -> Strip:
    name = call.request.tool
    about = " ".join(safe(call_about(call.request), "label").split())
    left = Text.assemble(
        (f"{mark(call)} ", _colour(styler, call)),
        (safe(name, "label"), "bold"),
        (f"  {about}", ""),
    )
    return ends(left, _right(styler, call, unfolded=unfolded, roomy=width >= BRIEF_WIDTH), width, styler)


def mark(call: ToolCall) -> str:
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


def _right(styler: TextStyler, call: ToolCall, *, unfolded: bool, roomy: bool) -> Text:
    words = Text(style=styler.palette.dim)
    if isinstance(call, AwaitingApproval):
        words.append(_waiting(call), styler.palette.warn if call.tried_by is None else styler.palette.accent)
    if isinstance(call, Scheduled):
        words.append(WAITS_ITS_TURN)
    if isinstance(call, Terminal):
        if call.ran_ms is not None and call.decision is not None and call.decision.edited:
            words.append("edited before it ran  " if roomy else "edited  ")
        if isinstance(call.display, DiffDisplay):
            words.append(f"+{call.display.added}", styler.palette.good).append(" ")
            words.append(f"-{call.display.removed}", styler.palette.bad).append("  ")
        if ended := ended_badly(call):
            words.append(f"{ended}  ", styler.palette.warn)
        words.append(f"{brief(call.display)}  " if roomy and brief(call.display) else "")
        words.append(f"{took(call)} {'▾' if unfolded else '▸'}".lstrip())
    return words


def _waiting(call: AwaitingApproval) -> str:
    if call.tried_by is not None:
        return "being tried"
    return safe(editing(call.modifying_by), "label") if call.modifying_by else "waiting for an answer"


# --- below the line ---


def _preview(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    match call:
        case Executing():
            return _live(styler, call, width, LIVE_LINES)
        case AwaitingApproval(tried_by=str()):
            return _tried(styler, call, width, LIVE_LINES)
        case Success(display=display) if display is not None:
            return preview(styler, display, width, failed=bool(ended_badly(call)))
        case Failed(display=display, failure=failure):
            shown = preview(styler, display, width, failed=True) if display is not None else []
            return [*_problem(styler, failure.message, width, FAILURE_LINES), *shown]
        case Cancelled(display=display, refusal=refusal):
            shown = preview(styler, display, width, failed=True) if display is not None else []
            return [*(_problem(styler, f"no: {refusal}", width, FAILURE_LINES) if refusal else ()), *shown]
        case _:
            return []


def _problem(styler: TextStyler, message: str, width: int, most: int) -> list[Strip]:
    lines = styler.text(message.strip(), styler.palette.bad, width)
    return lines if len(lines) <= most else [*lines[:most], *styler.text("…", styler.palette.bad, width)]


def _live(styler: TextStyler, call: Executing | AwaitingApproval, width: int, limit: int) -> list[Strip]:
    """The newest lines; an overwritten line shows its current content."""
    if isinstance(call, Executing) and call.received:
        return styler.text(f"{call.received:,} bytes of binary output", styler.palette.dim, width)
    if not call.output.strip():
        return []
    from assent.app.settled_output import settled

    return styler.terminal(settled(call.output[-200 * limit :], running=True).rstrip("\n"), width)[-limit:]


def _tried(styler: TextStyler, call: AwaitingApproval, width: int, limit: int) -> list[Strip]:
    lines = _live(styler, call, width, limit)
    return [*styler.text(TRIED, styler.palette.accent, width), *lines] if lines else []


def _body(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    """Everything, if it is not too long: then its beginning and its end."""
    lines = whole_call(styler, call, width)
    left_out = len(lines) - BODY_LINES
    if left_out <= 0:
        return lines
    gap = styler.text(f"… {count(left_out, 'line')} left out (v shows all)", f"italic {styler.palette.dim}", width)
    return [*lines[: BODY_LINES // 2], *gap, *lines[-BODY_LINES // 2 :]]


def whole_call(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    above = above_output(styler, call, width)
    match call:
        case Executing():
            return above + _live(styler, call, width, LIVE_LINES * 5)
        case AwaitingApproval(tried_by=str()):
            return above + _tried(styler, call, width, LIVE_LINES * 5)
        case Success(display=display) | Failed(display=display) | Cancelled(display=display) if display is not None:
            return above + draw_display(styler, display, width)
        case Success() | Cancelled():
            return above + styler.text(_as_text(call.result.response), "", width)
        case _:
            return above


def above_output(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    """The call's arguments, and why it failed."""
    problem = _problem(styler, call.failure.message, width, BODY_LINES) if isinstance(call, Failed) else []
    return _arguments(styler, call, width) + problem


def _arguments(styler: TextStyler, call: ToolCall, width: int) -> list[Strip]:
    """The other arguments, if the head line does not show everything. A list of steps is shown by its display."""
    if isinstance(call, Success) and isinstance(call.display, TodosDisplay):
        said = [value for value in call.request.args.values() if isinstance(value, str)]
        return [strip for text in said for strip in styler.prose(text, width)]
    if isinstance(call, Success) and call.approval is not None and isinstance(call.approval.details, AskDetails):
        return [strip for asked in call.approval.details.questions for strip in styler.prose(asked.question, width)]
    about = first_text(call.request)
    rest = [(name, value) for name, value in call.request.args.items() if value != about and len(str(value)) < 200]
    lines: list[Strip] = []
    if "\n" in about or len(about) > width:
        lines += styler.text(about, "", width)
    for name, value in rest:
        lines += styler.text(f"{name}: {value}", styler.palette.dim, width)
    return lines


def _as_text(response: dict[str, object]) -> str:
    """What the model gets, if there is nothing better to show."""
    for key in ("output", "error"):
        if isinstance(value := response.get(key), str):
            return value
    return str(response)
