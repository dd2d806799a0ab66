"""What the input gets from other programs: text from the person's editor, a picture from the clipboard, a file."""

import os
from typing import TYPE_CHECKING

from assent.app.wording import safe
from assent.front.tui.host import NotHere

if TYPE_CHECKING:
    from assent.front.tui.terminal_app import AssentApp


async def in_editor(app: "AssentApp", name: str, text: str) -> str | None:
    """The text as the person left it; None if the editor failed, which is said."""
    from assent.app.text_editor import edit_text

    try:
        with app.suspend():
            return await edit_text(name, text, app.context.preferences.chosen.editor)
    except OSError as error:
        app.note(f"The editor failed: {error}. Choose another with /editor.", "error")
        return None


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
