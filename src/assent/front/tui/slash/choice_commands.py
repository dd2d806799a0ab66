"""Commands that choose one of several: model, mode, theme, editor. Without an argument they offer a list."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from assent.app.text_editor import available_editors, default_editor
from assent.app.wording import MODES
from assent.approval import Mode
from assent.commands import SetEffort, SetMode, SetModel
from assent.front.tui.lists import Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.slash_command import SlashCommand
from assent.front.tui.slash.slash_helpers import HOST_ERRORS, carry_out, confirm, named, pick, quoted
from assent.parts import Effort

if TYPE_CHECKING:
    from assent.app.model_catalog import ModelView
    from assent.front.tui.slash.slash_context import SlashContext

OWN_EDITOR = "default"
PICK_TIMEOUT, COMPLETE_TIMEOUT, CHECK_TIMEOUT = 3.0, 0.3, 6.0
"""Seconds that a list, a completion while typing, and a check wait for providers to say which models they have."""
PROVIDERS_EFFORT = "default"
EFFORTS = {
    PROVIDERS_EFFORT: "up to the provider",
    "none": "no thinking, where the model can do without",
    "minimal": "",
    "low": "",
    "medium": "",
    "high": "",
    "xhigh": "",
    "max": "as much as the model can",
}
"""A model with fewer levels uses the nearest one."""


# --- model ---


async def model(context: "SlashContext", argument: str) -> None:
    current = context.client.state.model
    wanted = argument or await _pick_model(context, current)
    if not wanted:
        return
    if wanted == current:
        context.say(f"{quoted(wanted)} is already in use.")
    elif await carry_out(context, SetModel(wanted, by=context.client.me)) and argument:
        await _doubt(context, wanted)


async def _doubt(context: "SlashContext", wanted: str) -> None:
    """A slip in a name that was typed is not refused, because lists may be incomplete, but pointed out."""
    session = context.session
    try:
        known = [one.name for one in await context.host.models(CHECK_TIMEOUT)]
    except HOST_ERRORS:
        return
    if context.session == session and (near := _nearest(wanted, known)):
        context.complain(f"{named(wanted)} is not in the provider's list. Similar names there: {', '.join(near)}.")


def _nearest(wanted: str, known: Sequence[str]) -> Sequence[str]:
    """The models of the same provider with the most similar names; none if it lists this one, or is not known."""
    provider = _provider_of(wanted)
    listed = [name for name in known if _provider_of(name) == provider]
    if any(name == wanted or name.startswith(f"{wanted}:") for name in listed):
        return ()  # of a local server, the part after the second colon can be left out
    return get_close_matches(wanted, listed, n=3, cutoff=0.0)


def _provider_of(name: str) -> str:
    """As far as the name says: `gemini-2.5-pro` and the like need no prefix."""
    provider, colon, _ = name.partition(":")
    return provider if colon else name.partition("-")[0]


async def _pick_model(context: "SlashContext", current: str) -> str | None:
    models = {one.name: one for one in await context.host.models(PICK_TIMEOUT)}
    names = dict.fromkeys((current, *models))
    cells = {name: (name, _facts(models.get(name)), "in use" if name == current else "") for name in names if name}
    if not cells:
        context.complain("No model can be used from here. `assent models` says why.")
        return None
    return await pick(context, "Model", [Row(name, row) for name, row in cells.items()], start=current)


async def complete_model(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(one.name, _facts(one)) for one in await context.host.models(COMPLETE_TIMEOUT)]


def _facts(model: "ModelView | None") -> str:
    """What matters for a choice, as far as it is known."""
    if model is None:
        return ""
    window = f"{model.window // 1000:,}k tokens" if model.window else ""
    known = model.input_price is not None and model.output_price is not None
    price = f"${model.input_price:g} / ${model.output_price:g}" if known else ""
    return ", ".join(fact for fact in (window, price, "no tools" if model.tools is False else "") if fact)


# --- effort ---


async def effort(context: "SlashContext", argument: str) -> None:
    current = context.client.state.effort or PROVIDERS_EFFORT
    rows = [Row(name, (name, words, "in use" if name == current else "")) for name, words in EFFORTS.items()]
    wanted = argument or await pick(context, "Effort", rows, start=current)
    if not wanted:
        return
    chosen = next((name for name in get_args(Effort) if name == wanted), None)
    if chosen is None and wanted != PROVIDERS_EFFORT:
        context.complain(f"There is no effort {named(wanted)}. Available: {', '.join(EFFORTS)}.")
    elif wanted == current:
        context.say(f"The effort is already {current}.")
    else:
        await carry_out(context, SetEffort(chosen, by=context.client.me))


async def complete_effort(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(name, words) for name, words in EFFORTS.items()]


# --- mode ---


async def mode(context: "SlashContext", argument: str) -> None:
    current = context.client.state.mode
    rows = [Row(name, (name, words, "in use" if name == current else ""), words) for name, words in MODES.items()]
    wanted = argument or await pick(context, "Mode", rows, start=current)
    chosen = next((name for name in get_args(Mode) if name == wanted), None)
    if wanted and chosen is None:
        context.complain(f"There is no mode {named(wanted)}. Choose one of: {', '.join(MODES)}.")
    elif chosen == current:
        context.say(f"The mode is already {current}.")
    elif chosen is not None:
        await _set_mode(context, chosen)


async def _set_mode(context: "SlashContext", chosen: Mode) -> None:
    if chosen != "yolo" or await _really(context):
        await carry_out(context, SetMode(chosen, by=context.client.me))


async def _really(context: "SlashContext") -> bool:
    detail = "In yolo mode, every command and change runs at once, whatever it is. Only deny and ask rules still apply."
    return await confirm(context, "Run everything without asking?", detail, "Yes, run everything in this session")


async def complete_mode(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(name, words) for name, words in MODES.items()]


# --- theme ---


async def theme(context: "SlashContext", argument: str) -> None:
    before = context.theme
    wanted = argument or await _pick_theme(context, before)
    if wanted is None:
        context.set_theme(before)
    elif wanted not in context.themes:
        context.complain(f"There is no theme {named(wanted)}. /theme lists them.")
    else:
        context.set_theme(wanted)
        _kept(
            context,
            context.preferences.keep(replace(context.preferences.chosen, theme=wanted)),
            f"Theme: {quoted(wanted)}",
        )


async def _pick_theme(context: "SlashContext", before: str) -> str | None:
    """Shows each theme while it is highlighted."""
    rows = [Row(name, (name, "in use" if name == before else "")) for name in context.themes]
    return await pick(context, "Theme", rows, start=before, on_highlight=lambda row: context.set_theme(row.key))


async def complete_theme(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(name) for name in context.themes]


# --- editor ---


async def editor(context: "SlashContext", argument: str) -> None:
    current = context.preferences.chosen.editor or OWN_EDITOR
    choices = _editors()
    rows = [Row(name, (name, words, "in use" if name == current else "")) for name, words in choices.items()]
    wanted = argument or await pick(context, "Editor", rows, start=current)
    if not wanted:
        return
    if wanted not in choices:
        context.complain(f"There is no editor {named(wanted)} here. Choose one of: {', '.join(choices)}.")
        return
    chosen = "" if wanted == OWN_EDITOR else wanted
    _kept(
        context,
        context.preferences.keep(replace(context.preferences.chosen, editor=chosen)),
        f"Editor: {quoted(wanted)}",
    )


def _editors() -> dict[str, str]:
    return {OWN_EDITOR: f"$VISUAL or $EDITOR: {default_editor()}"} | {
        name: " ".join(words) for name, words in available_editors().items()
    }


async def complete_editor(context: "SlashContext", argument: str) -> Sequence[Candidate]:
    return [Candidate(name, words) for name, words in _editors().items()]


def _kept(context: "SlashContext", problem: str, done: str) -> None:
    if problem:
        context.complain(problem)
    else:
        context.say(done)


COMMANDS = (
    SlashCommand(
        name="model",
        help="Choose the model",
        run=model,
        group="Model and mode",
        usage="[NAME]",
        complete=complete_model,
    ),
    SlashCommand(
        name="effort",
        help="Choose how much the model thinks",
        run=effort,
        group="Model and mode",
        usage="[EFFORT]",
        complete=complete_effort,
    ),
    SlashCommand(
        name="mode",
        help="Choose what runs without asking",
        run=mode,
        group="Model and mode",
        usage="[MODE]",
        complete=complete_mode,
    ),
    SlashCommand(
        name="theme",
        help="Choose the colours",
        run=theme,
        group="Program",
        usage="[NAME]",
        complete=complete_theme,
    ),
    SlashCommand(
        name="editor",
        help="Choose the editor for long texts",
        run=editor,
        group="Program",
        usage="[NAME]",
        complete=complete_editor,
    ),
)
