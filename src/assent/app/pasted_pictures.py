"""Keeps pictures that the person gives, from the clipboard or by dropping a file, where the session can read them, so
that a prompt can mention them."""

import asyncio
import os
from collections.abc import Mapping

from assent.app.prompt_files import keep_prompt_file


async def paste_picture(env: Mapping[str, str], session: str) -> str:
    """Its path; empty if the clipboard has none."""
    from assent.process.clipboard_picture import picture_from_clipboard

    picture = await asyncio.to_thread(picture_from_clipboard, env)
    return await asyncio.to_thread(keep_prompt_file, env, session, "pasted.png", picture) if picture else ""


def keep_dropped(env: Mapping[str, str], session: str, folder: str, path: str) -> str:
    """The path to mention: of a copy, if the file is a picture or a PDF outside the folder and in no place for secrets.
    Anything else is judged where it is, like every mention."""
    from assent.files.workspace import Workspace

    place = Workspace([folder], folder).classify(path, "read")
    try:
        picture = _picture(path, place.path) if place.kind == "outside" else b""
        return keep_prompt_file(env, session, os.path.basename(path), picture) if picture else path
    except OSError:
        return path


def _picture(path: str, place: str) -> bytes:
    """Empty if it is none, or secret by its name or by the place that it leads to."""
    from assent.files.protected import why_secret
    from assent.safe_open import read_regular
    from assent.tools.support.filetype import MAX_MEDIA, media_type

    if any(why_secret(name.strip("/").split("/")) for name in (path, place)):
        return b""
    data = read_regular(place, MAX_MEDIA, follow=False)
    return data if media_type(data) else b""
