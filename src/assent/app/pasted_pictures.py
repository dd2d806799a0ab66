"""Keeps a picture from the clipboard where the session can read it, so that a prompt can mention it."""

import asyncio
from collections.abc import Mapping

from assent.app.prompt_files import keep_prompt_file


async def paste_picture(env: Mapping[str, str], session: str) -> str:
    """Its path; empty if the clipboard has none."""
    from assent.process.clipboard_picture import picture_from_clipboard

    picture = await asyncio.to_thread(picture_from_clipboard, env)
    return await asyncio.to_thread(keep_prompt_file, env, session, "pasted.png", picture) if picture else ""
