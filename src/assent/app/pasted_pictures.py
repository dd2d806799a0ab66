"""Keeps a picture from the clipboard where the session can read it, so that a prompt can mention it."""

import asyncio
from collections.abc import Mapping

from assent.app.output_folders import output_folder


async def paste_picture(env: Mapping[str, str], session: str) -> str:
    """Its path; empty if the clipboard has none."""
    from assent.process.clipboard_picture import picture_from_clipboard

    picture = await asyncio.to_thread(picture_from_clipboard, env)
    return await asyncio.to_thread(_keep, env, session, picture) if picture else ""


def _keep(env: Mapping[str, str], session: str, picture: bytes) -> str:
    with output_folder(env, session).create("pasted.png") as file:
        file.write(picture)
    return file.path
