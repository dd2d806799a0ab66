"""Keeps a file that came with a prompt where the session can read it, so that the prompt can mention it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.app.output_folders import output_folder

if TYPE_CHECKING:
    from assent.blob_store import BlobStore


def keep_prompt_file(env: Mapping[str, str], session: str, name: str, data: bytes) -> str:
    """Its path. Only harmless characters of the name are used."""
    with output_folder(env, session).create(name) as file:
        file.write(data)
    return file.path


async def share_prompt_file(store: "BlobStore", session: str, path: str, data: bytes) -> None:
    """Stores it, so that the worker that reads the prompt has it too. Raises BlobUnavailable."""
    from assent.app.session_blobs import OUTPUTS

    await store.put(session, OUTPUTS + os.path.basename(path), data)
