"""The history of the input: what was asked before in this folder, from the log. It remembers nothing by itself."""

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the first frame must not wait for the log
    from assent.app.session_log import SessionLog

MOST_PROMPTS = 500


async def prompts_of(log: "SessionLog", folder: str, most: int = MOST_PROMPTS) -> list[str]:
    """The oldest first; of the same prompt several times in a row, one."""
    return [text for text, _ in groupby(await log.prompts(folder, most)) if text.strip()]
