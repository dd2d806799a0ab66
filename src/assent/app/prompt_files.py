"""Keeps a file that came with a prompt where the session can read it, so that the prompt can mention it."""

from collections.abc import Mapping

from assent.app.output_folders import output_folder


def keep_prompt_file(env: Mapping[str, str], session: str, name: str, data: bytes) -> str:
    """Its path. Only harmless characters of the name are used."""
    with output_folder(env, session).create(name) as file:
        file.write(data)
    return file.path
