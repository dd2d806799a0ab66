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
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


async def edit_text(name: str, text: str, editor: str = "") -> str | None:
    """The text as the person left it; None if the editor failed. `name` tells the editor the type.

    `editor` is one of EDITORS; if it is empty or no longer installed, the person's own is used.
    """
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:  # readable by its owner only
        copy = Path(folder, os.path.basename(name) or "proposal")
        copy.write_bytes(text.encode())
        if await _run_editor(str(copy), editor) != 0:
            return None
        return copy.read_bytes().decode(errors="replace")


async def _run_editor(path: str, editor: str) -> int:
    words = available_editors().get(editor) or tuple(shlex.split(default_editor()))
    process = await asyncio.create_subprocess_exec(*words, path)
    return await process.wait()
