"""Commands that change the past: compress the conversation, undo file changes, go back to an earlier prompt.

They first show what they would undo.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from textual.content import Content

from assent.app.applied_trials import Applied, changed_paths, in_one_line
from assent.app.call_states import Failed, Success, ToolCall
from assent.app.wording import call_about, count
from assent.commands import Compress, Rewind
from assent.events import CallFinished
from assent.front.tui.lists import Action, Column, Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.rewind_plan import Plan, plan
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import carry_out, choose, diff_lines, named, pick, quoted, short_when
from assent.front.tui.small_screens import ReviewScreen
from assent.parts import DiffDisplay

if TYPE_CHECKING:
    from assent.app.session_state import RewindPoint, SessionState
    from assent.front.tui.slash.slash_context import SlashContext


LEFT_ALONE = "A file that has changed since is left alone."
MAX_COMMANDS = 5
"""Commands that are named; the others are counted."""
MAX_PLACES = 20
"""Files that a trial changed and that are named."""


async def compress(context: "SlashContext", argument: str) -> None:
    await carry_out(context, Compress(by=context.client.me))


async def undo(context: "SlashContext", argument: str) -> None:
    if argument:
        await _undo_change(context, argument)
        return

    async def source() -> Sequence[Row]:
        return await _changes(context)

    columns = (Column("File"), Column("By", spare=2), Column("When", spare=1))
    empty = "No call of this session has changed a file."
    if chosen := await choose(context, "Undo a change", columns, source, [Action("enter", "undo")], empty):
        await _undo_change(context, chosen.key)


async def _changes(context: "SlashContext") -> list[Row]:
    """Newest first."""
    state = context.client.state
    applied = await _applied(context, state.undoable())
    return [
        Row(
            call_id,
            (
                _what_changed(state, call_id, applied),
                state.calls[call_id].request.tool,
                short_when(state.calls[call_id].started_at),
            ),
            f"call {call_id}",
        )
        for call_id in reversed(state.undoable())
    ]


async def _applied(context: "SlashContext", call_ids: Sequence[str]) -> Applied:
    changes = context.client.state.changes
    return await context.host.applied([changes[call_id] for call_id in call_ids])


def _what_changed(state: "SessionState", call_id: str, applied: Applied) -> str:
    """The path of the file; for a trial, what it changed, or the command if that is not known here."""
    change = state.changes[call_id]
    if not change.effects:
        return change.path
    places = applied.get(change.effects, ())
    return in_one_line(places) if places else _label(state, call_id)


async def _undo_change(context: "SlashContext", call_id: str) -> None:
    state = context.client.state
    if call_id not in state.undoable():
        context.complain(f"Call {named(call_id)} has no change to undo. /undo lists the changes.")
        return
    applied = await _applied(context, [call_id])
    shown = _changes_in_words(state, [call_id], applied)
    if await context.push(ReviewScreen("Undo this change?", shown, {"y": "undo it"})) != "y":
        return
    if problem := await _take_back(context, call_id):
        context.complain(f"Not undone: {problem.why}")
    else:
        context.say(f"Undone: {quoted(_what_changed(state, call_id, applied))}")


class _NotUndone(Struct, frozen=True):
    why: str
    stops: bool
    """It is not about this file: the call was refused or could not be made."""


async def _take_back(context: "SlashContext", call_id: str) -> _NotUndone | None:
    from assent.app.command_sender import run
    from assent.app.person_calls import undo_command

    match await run(context.client, context.feed.outcomes, undo_command(call_id, context.client.me)):
        case str(problem):
            return _NotUndone(problem, stops=True) if problem else None
        case CallFinished(status="success"):
            return None
        case failed:
            why = str(failed.result.response.get("error", failed.status))
            return _NotUndone(why, stops=failed.status != "error")


def _changes_in_words(state: "SessionState", call_ids: Sequence[str], applied: Applied) -> Content:
    """What would be undone, newest first, as it was shown when it was done."""
    sections: list[Content] = []
    for call_id in reversed(call_ids):
        head = Content.styled(named(_label(state, call_id)), "bold")
        sections += [head, _change_in_words(state, call_id, applied), Content("")]
    return Content("\n").join([*sections, Content.styled(LEFT_ALONE, "dim")])


def _change_in_words(state: "SessionState", call_id: str, applied: Applied) -> Content:
    change, display = state.changes[call_id], getattr(state.calls[call_id], "display", None)
    if isinstance(display, DiffDisplay):
        return diff_lines(display.diff)
    if not change.effects:
        return Content("(no diff is available)")
    places = applied.get(change.effects, ())
    lines = [Content(f"  {place.sign} {named(place.path)}") for place in places[:MAX_PLACES]]
    more = [Content(f"  and {len(places) - MAX_PLACES:,} more")] if len(places) > MAX_PLACES else []
    return Content("\n").join([*lines, *more]) if lines else Content("(which files it changed is not known here)")


# --- rewind ---


async def rewind(context: "SlashContext", argument: str) -> None:
    state = context.client.state
    points = {point.prompt_id: point for point in state.rewind_points()}
    if state.open_prompt is not None:
        context.complain("A turn is running; stop it first (Ctrl-C).")
    elif not points:
        context.complain("There is no prompt to go back to.")
    else:
        await _choose_point(context, points, list(points)[-1])


async def _choose_point(context: "SlashContext", points: "Mapping[str, RewindPoint]", start: str) -> None:
    """Esc in the preview leads back to the list, so that several prompts can be looked at."""
    state, chosen = context.client.state, start
    rows = _prompts(state, await _applied(context, list(state.changes)))
    while chosen := await pick(context, "Go back to before…", rows, label="look at it", start=chosen):
        if await _rewind_to(context, points[chosen]):
            return


def _prompts(state: "SessionState", applied: Applied) -> list[Row]:
    return [
        Row(
            point.prompt_id,
            (short_when(point.at), named(" ".join(point.text.split())), _files_of(state, point, applied)),
            "later messages are removed from the conversation, but stay in the log",
        )
        for point in state.rewind_points()
    ]


def _files_of(state: "SessionState", point: "RewindPoint", applied: Applied) -> str:
    changes = [state.changes[call_id] for call_id in state.changes_since(point.prompt_id)]
    changed = len({path for change in changes for path in changed_paths(change, applied)})
    return f"{count(changed, 'file')} changed since" if changed else ""


async def _rewind_to(context: "SlashContext", point: "RewindPoint") -> bool:
    """False if the person has only looked at the preview."""
    state = context.client.state
    changes = state.changes_since(point.prompt_id)
    applied = await _applied(context, changes)
    paths = [path for one in changes for path in changed_paths(state.changes[one], applied)]
    planned = plan(state, changes, await context.host.digests(list(dict.fromkeys(paths))), applied)
    both = {"y": "go back, conversation and files", "c": "only the conversation", "f": "only the files"}
    text = _preview(state, point, planned, applied)
    match await context.push(ReviewScreen("Go back?", text, both if changes else {"y": "go back"})):
        case "y":
            left = await _take_back_all(context, planned)
            if left is not None:
                await _forget_since(context, point)
                _say_left(context, left)  # only now: what was said before is removed with the conversation
        case "c":
            await _forget_since(context, point)
        case "f":
            _say_left(context, await _take_back_all(context, planned) or {})
        case _:
            return False
    return True


def _preview(state: "SessionState", point: "RewindPoint", planned: Plan, applied: Applied) -> Content:
    later = [one for one in state.rewind_points() if one.at >= point.at]
    said = f"{count(len(later), 'prompt')} and what followed would be removed from the conversation:"
    prompts = [Content(f"  {named(' '.join(one.text.split()))}") for one in later]
    head = Content("\n").join([Content.styled(said, "bold"), *prompts, Content("")])
    stay = _commands_in_words(state, {one.prompt_id for one in later}, planned)
    parts = [head, *stay, *_staying_in_words(planned)]
    if not planned.undo:
        return Content("\n").join([*parts, Content("No file would change.")])
    files = Content.styled("These file changes would be undone:", "bold")
    return Content("\n").join([*parts, files, _changes_in_words(state, planned.undo, applied)])


def _staying_in_words(planned: Plan) -> list[Content]:
    if not planned.stay:
        return []
    head = Content.styled("Changed since, and left as they are:", "bold")
    return [head, *(Content(f"  {named(path)}") for path in planned.stay), Content("")]


def _commands_in_words(state: "SessionState", prompt_ids: set[str], planned: Plan) -> list[Content]:
    """The commands that may have changed something that stays; nobody can say what."""
    calls = [call for call_id, call in state.calls.items() if call_id not in planned.undo]
    ran = [call for call in calls if call.request.prompt_id in prompt_ids and _may_have_acted(call)]
    if not ran:
        return []
    head = Content.styled(f"What {'this command' if len(ran) == 1 else 'these commands'} did would stay:", "bold")
    more = [Content(f"  and {len(ran) - MAX_COMMANDS:,} more")] if len(ran) > MAX_COMMANDS else []
    shown = [Content(f"  {named(' '.join(call_about(call.request).split()))}") for call in ran[:MAX_COMMANDS]]
    return [head, *shown, *more, Content("")]


def _may_have_acted(call: ToolCall) -> bool:
    """Commands that only read run by the policy alone, without a question, a grant or a mode that allows more."""
    match call:
        case Success(decision=decision) | Failed(decision=decision) if decision is not None:
            return "command" in call.request.args and decision.source in ("person", "grant", "mode")
        case _:
            return False


async def _take_back_all(context: "SlashContext", planned: Plan) -> dict[str, str] | None:
    """Newest first, so that each file is as its older changes left it. Returns the files that somebody else has
    changed, which are left alone, and why. None if it was stopped: nothing can be done any more, or the person refused.
    """
    changes, left = context.client.state.changes, dict.fromkeys(planned.stay, "it has changed since")
    for call_id in reversed(planned.undo):
        path = _label(context.client.state, call_id)
        if path in left and path not in planned.stay and not changes[call_id].effects:
            continue  # its newer changes stay, and so do the older ones
        problem = await _take_back(context, call_id)
        if problem is not None and problem.stops:
            context.complain(
                f"Stopped: {problem.why} The conversation is as it was; /rewind can go back without files."
            )
            return None
        if problem is not None:
            left[path] = problem.why
    return left


def _label(state: "SessionState", call_id: str) -> str:
    change = state.changes[call_id]
    return " ".join(call_about(state.calls[call_id].request).split()) if change.effects else change.path


def _say_left(context: "SlashContext", left: Mapping[str, str]) -> None:
    if left:
        listed = "; ".join(f"{path} ({why.rstrip('.')})" for path, why in left.items())
        context.complain(f"Left as they are: {listed}.")


async def _forget_since(context: "SlashContext", point: "RewindPoint") -> None:
    if await carry_out(context, Rewind(point.prompt_id, by=context.client.me)):
        context.put_into_prompt(point.text)


async def complete_undo(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(row.key, named(row.cells[0])) for row in await _changes(context)]


COMMANDS = (
    SlashCommand(
        name="compress",
        help="Replace the older conversation with a summary",
        run=compress,
        group="Session",
        aliases=("compact", "summarize"),
    ),
    SlashCommand(
        name="rewind",
        help="Go back to an earlier prompt: conversation, files, or both",
        run=rewind,
        group="Session",
    ),
    SlashCommand(
        name="undo",
        help="Undo a call's file change",
        run=undo,
        group="Session",
        usage="[CALL]",
        complete=complete_undo,
    ),
)
