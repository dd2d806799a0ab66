"""Opens a text in the person's own editor: a private copy on the real terminal; returns what was saved."""

import asyncio
import os
import shlex
import shutil
import tempfile
from pathlib import Path

EDITORS: dict[str, tuple[str, ...]] = {
    "vim": ("vim",),
    "nvim": ("nvim",),
    "nano": ("nano",),
    "emacs": ("emacs", "-nw"),
    "helix": ("hx",),
    "micro": ("micro",),
    "code": ("code", "--wait"),
    "cursor": ("cursor", "--wait"),
    "zed": ("zed", "--wait"),
    "windsurf": ("windsurf", "--wait"),
    "sublime": ("subl", "--wait"),
}
"""Editors that can be chosen by name, with the arguments that make them wait until the file is closed."""


def available_editors() -> dict[str, tuple[str, ...]]:
    """The installed ones."""
    return {name: words for name, words in EDITORS.items() if shutil.which(words[0])}


def default_editor() -> str:
    """$VISUAL, $EDITOR, or vi."""
    return _set("VISUAL") or _set("EDITOR") or "vi"


def _set(variable: str) -> str:
    return os.environ.get(variable, "").strip()


class EditorFailed(Exception):
    """The text is as it was. The message says why, as a sentence."""


async def edit_text(name: str, text: str, editor: str = "") -> str:
    """The text as the person left it. `name` tells the editor the type. Raises EditorFailed.

    `editor` is one of EDITORS; if it is empty or no longer installed, the person's own is used.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="assent-") as folder:  # readable by its owner only
            copy = Path(folder, os.path.basename(name) or "proposal")
            copy.write_bytes(text.encode())
            await _run_editor(str(copy), editor)
            return copy.read_bytes().decode(errors="replace")
    except OSError as error:  # no room for the copy, or the editor removed it
        raise EditorFailed(f"The text could not be edited: {error}.") from error


async def _run_editor(path: str, editor: str) -> None:
    try:
        words = available_editors().get(editor) or _words(default_editor())
        process = await asyncio.create_subprocess_exec(*words, path)
    except (OSError, ValueError) as error:
        why = _reason(error, editor or default_editor())
        raise EditorFailed(f"The editor could not be started: {why}; set $EDITOR or use /editor.") from error
    if code := await process.wait():
        raise EditorFailed(f"The editor {_how_it_ended(code)}, so nothing was taken over from it.")


def _words(command: str) -> tuple[str, ...]:
    words = tuple(shlex.split(command))
    if not words:
        raise ValueError("its name is empty")
    return words


def _reason(error: OSError | ValueError, command: str) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{command} was not found"
    return f"{command}: {error.strerror if isinstance(error, OSError) else error}"


def _how_it_ended(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
