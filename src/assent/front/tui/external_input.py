"""What the input gets from other programs: text from the person's editor, a picture from the clipboard, a file."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assent.app.wording import safe
from assent.front.tui.host import NotHere

if TYPE_CHECKING:
    from assent.front.tui.terminal_app import AssentApp


async def in_editor(app: "AssentApp", name: str, text: str) -> str | None:
    """The text as the person left it; None if the editor failed, which is said.

    Textual gives the terminal back only if nothing is raised while another program has it.
    """
    from assent.app.text_editor import EditorFailed, edit_text

    with app.suspend(), _interrupts_for_editor():
        try:
            return await edit_text(name, text, app.context.preferences.chosen.editor)
        except EditorFailed as error:
            problem = str(error)
    app.note(problem, "error")
    return None


@contextmanager
def _interrupts_for_editor() -> Generator[None]:
    """Ctrl-C ends an editor that leaves the terminal as it is, such as `code --wait`; Assent is in the same group."""
    before = {number: signal.signal(number, _ignore) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore(*_: object) -> None:
    """Unlike SIG_IGN, a handler is not inherited by the editor."""


async def edit_prompt(app: "AssentApp", text: str) -> None:
    edited = await in_editor(app, "prompt.md", text)
    if edited is not None:
        app.prompt.load(edited.rstrip("\n"))


async def paste_picture(app: "AssentApp", session: str) -> None:
    try:
        path = await app.host.paste_picture(session)
    except (NotHere, OSError) as error:
        app.notify(f"{error}", severity="warning", markup=False)
        return
    if path:
        app.prompt.mention(path)
    else:
        app.notify("There is neither text nor a picture in the clipboard.")


def keep_dropped(app: "AssentApp", path: str) -> str:
    """The path to mention. It is needed at once: Enter may follow."""
    kept = path if app.client is None else app.host.keep_dropped(app.client.state.session, path)
    if kept != path:
        name = os.path.basename(path)
        app.notify(f"A copy of {safe(name, 'label')} goes with the prompt.", markup=False)
    return kept
