"""Commands that choose one of several: model, mode, theme, editor. Without an argument they offer a list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from assent.app.text_editor import available_editors, default_editor
from assent.app.wording import MODES
from assent.approval import Mode
from assent.commands import SetMode, SetModel
from assent.front.tui.lists import Row
from assent.front.tui.prompt.completion import Candidate
from assent.front.tui.slash.command import SlashCommand
from assent.front.tui.slash.words import carry_out, confirm, named, pick, quoted

if TYPE_CHECKING:
    from assent.front.tui.slash.desk import Desk

OWN_EDITOR = "default"


# --- model ---


async def model(desk: "Desk", argument: str) -> None:
    current = desk.client.state.model
    names = dict.fromkeys((current, *desk.host.models()))
    rows = [Row(name, (name, "in use" if name == current else "")) for name in names]
    wanted = argument or await pick(desk, "Model", rows, start=current)
    if not wanted:
        return
    if wanted == current:
        desk.say(f"{quoted(wanted)} is in use already.")
    else:
        await carry_out(desk, SetModel(wanted, by=desk.client.me))


async def complete_model(desk: "Desk", argument: str) -> Sequence[Candidate]:
    return [Candidate(name) for name in desk.host.models()]


# --- mode ---


async def mode(desk: "Desk", argument: str) -> None:
    current = desk.client.state.mode
    rows = [Row(name, (name, words, "in use" if name == current else "")) for name, words in MODES.items()]
    wanted = argument or await pick(desk, "Mode", rows, start=current)
    chosen = next((name for name in get_args(Mode) if name == wanted), None)
    if wanted and chosen is None:
        desk.complain(f"There is no mode {named(wanted)}. There are: {', '.join(MODES)}.")
    elif chosen == current:
        desk.say(f"The mode is {current} already.")
    elif chosen is not None:
        await _set_mode(desk, chosen)


async def _set_mode(desk: "Desk", chosen: Mode) -> None:
    if chosen != "yolo" or await _really(desk):
        await carry_out(desk, SetMode(chosen, by=desk.client.me))


async def _really(desk: "Desk") -> bool:
    detail = (
        "In yolo mode every command and every change runs at once, whatever it is. Only rules that deny still hold."
    )
    return await confirm(desk, "Run everything without asking?", detail, "Yes, run everything in this session")


async def complete_mode(desk: "Desk", argument: str) -> Sequence[Candidate]:
    return [Candidate(name, words) for name, words in MODES.items()]


# --- theme ---


async def theme(desk: "Desk", argument: str) -> None:
    before = desk.theme
    wanted = argument or await _pick_theme(desk, before)
    if wanted is None:
        desk.set_theme(before)
    elif wanted not in desk.themes:
        desk.complain(f"There is no theme {named(wanted)}. /theme lists them.")
    else:
        desk.set_theme(wanted)
        _kept(desk, desk.preferences.keep(replace(desk.preferences.chosen, theme=wanted)), f"Theme: {quoted(wanted)}")


async def _pick_theme(desk: "Desk", before: str) -> str | None:
    """Each is shown while it is highlighted."""
    rows = [Row(name, (name, "in use" if name == before else "")) for name in desk.themes]
    return await pick(desk, "Theme", rows, start=before, on_highlight=lambda row: desk.set_theme(row.key))


async def complete_theme(desk: "Desk", argument: str) -> Sequence[Candidate]:
    return [Candidate(name) for name in desk.themes]


# --- editor ---


async def editor(desk: "Desk", argument: str) -> None:
    current = desk.preferences.chosen.editor or OWN_EDITOR
    choices = _editors()
    rows = [Row(name, (name, words, "in use" if name == current else "")) for name, words in choices.items()]
    wanted = argument or await pick(desk, "Editor", rows, start=current)
    if not wanted:
        return
    if wanted not in choices:
        desk.complain(f"There is no editor {named(wanted)} here. Found: {', '.join(choices)}.")
        return
    chosen = "" if wanted == OWN_EDITOR else wanted
    _kept(desk, desk.preferences.keep(replace(desk.preferences.chosen, editor=chosen)), f"Editor: {quoted(wanted)}")


def _editors() -> dict[str, str]:
    return {OWN_EDITOR: f"$VISUAL or $EDITOR: {default_editor()}"} | {
        name: " ".join(words) for name, words in available_editors().items()
    }


async def complete_editor(desk: "Desk", argument: str) -> Sequence[Candidate]:
    return [Candidate(name, words) for name, words in _editors().items()]


def _kept(desk: "Desk", problem: str, done: str) -> None:
    if problem:
        desk.complain(problem)
    else:
        desk.say(done)


COMMANDS = (
    SlashCommand(
        name="model",
        help="Chooses the model",
        run=model,
        group="Model and mode",
        usage="[NAME]",
        complete=complete_model,
    ),
    SlashCommand(
        name="mode",
        help="Chooses what runs without asking",
        run=mode,
        group="Model and mode",
        usage="[MODE]",
        complete=complete_mode,
    ),
    SlashCommand(
        name="theme",
        help="Chooses the colours",
        run=theme,
        group="This program",
        usage="[NAME]",
        complete=complete_theme,
    ),
    SlashCommand(
        name="editor",
        help="Chooses the editor for long texts",
        run=editor,
        group="This program",
        usage="[NAME]",
        complete=complete_editor,
    ),
)
