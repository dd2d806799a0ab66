"""The folders inside a folder, for choosing where a session works: only below the roots, without hidden ones."""

import asyncio
import os

from assent.front.web.api_types import FolderList
from assent.front.web.app_state import Setup, wanted_folder

MAX_FOLDERS = 500


async def list_folders(setup: Setup, path: str) -> FolderList:
    """Raises Problem if sessions may not work there."""
    folder = wanted_folder(setup, path or None)
    parent = os.path.dirname(folder)
    names = await asyncio.to_thread(_inside, folder)
    return FolderList(folder, parent if parent != folder and setup.allows(parent) else None, names)


def _inside(folder: str) -> tuple[str, ...]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError:
        return ()
    return tuple(sorted(names, key=str.casefold)[:MAX_FOLDERS])
