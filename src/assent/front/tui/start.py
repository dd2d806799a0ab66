"""Starts the terminal UI, and on exit says how to continue."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from assent import exit_codes
from assent.app.preferences import PreferenceFile, preference_file
from assent.approval import Mode
from assent.config import TerminalSettings
from assent.front.tui.local_host import LocalHost
from assent.front.tui.prompt.paste_driver import GuardedDriver
from assent.front.tui.terminal_app import AssentApp, run_app
from assent.front.tui.themes import DEFAULT_LOOK, LOOKS

if TYPE_CHECKING:
    from assent.app.rule_sources import Rule
    from assent.config import Settings
    from assent.front.tui.host import Host
    from assent.parts import Effort


def open_terminal(
    folder: str,
    settings: "Settings",
    *,
    session: str | None = None,
    mode: Mode | None = None,
    model: str | None = None,
    effort: "Effort | None" = None,
    rules: "tuple[Rule, ...]" = (),
    prompt: str = "",
) -> int:
    """`assent`: the UI in this folder. `prompt` is sent at once."""
    host = LocalHost(folder, settings, os.environ, model=model, effort=effort, rules=rules)
    return show(host, session=session, mode=mode, prompt=prompt, terminal=settings.terminal)


def show(
    host: "Host",
    *,
    session: str | None = None,
    mode: Mode | None = None,
    again: str = "assent --resume",
    prompt: str = "",
    terminal: TerminalSettings = TerminalSettings(),  # noqa: B008  (frozen)
) -> int:
    """`again`, followed by the session, is the command to return to it."""
    preferences = preference_file(os.environ)
    app = AssentApp(
        host,
        session=session,
        mode=mode,
        first_prompt=prompt,
        driver_class=GuardedDriver,
        preferences=preferences,
        look=chosen_look(preferences),
        terminal=terminal,
    )
    asyncio.run(run_app(app))
    for line in farewell(app, again):
        sys.stderr.write(line + "\n")
    return app.return_code or exit_codes.OK


def chosen_look(preferences: PreferenceFile) -> str:
    """The look chosen earlier; without a choice, NO_COLOR decides."""
    if preferences.chosen.theme in LOOKS:
        return preferences.chosen.theme
    return "plain" if os.environ.get("NO_COLOR") else DEFAULT_LOOK


def farewell(app: AssentApp, again: str = "assent --resume") -> list[str]:
    if not app.link.left_session:
        return []
    lines = [f"Continue with: {again} {app.link.left_session}"]
    if app.link.left_waiting:
        calls = "a call is" if app.link.left_waiting == 1 else f"{app.link.left_waiting} calls are"
        lines.insert(0, f"Nothing is lost: {calls} waiting for your answer, here or from elsewhere (assent answer).")
    return lines
