"""The person's own editor on a text: a private copy is opened on the real terminal, and what was saved comes back."""

import asyncio
import os
import shlex
import tempfile
from pathlib import Path


async def edit_text(name: str, text: str) -> str | None:
    """The text as the person left it; None when the editor ended with an error. `name` tells it the type."""
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:  # readable by its owner only
        copy = Path(folder, os.path.basename(name) or "proposal")
        copy.write_bytes(text.encode())
        if await _run_editor(str(copy)) != 0:
            return None
        return copy.read_bytes().decode(errors="replace")


async def _run_editor(path: str) -> int:
    """$VISUAL, $EDITOR, or vi."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    process = await asyncio.create_subprocess_exec(*words, path)
    return await process.wait()
