"""The history of the input: earlier prompts in this folder, from the log. It stores nothing itself."""

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the first frame must not wait for the log
    from assent.app.session_log import SessionLog

MAX_PROMPTS = 500


async def prompts_of(log: "SessionLog", folder: str, most: int = MAX_PROMPTS) -> list[str]:
    """Oldest first; the same prompt several times in a row counts once."""
    return [text for text, _ in groupby(await log.prompts(folder, most)) if text.strip()]
