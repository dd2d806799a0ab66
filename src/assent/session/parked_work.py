"""Whether a session that nobody has open has something to do, told from the index and the inbox alone."""

from collections.abc import Sequence

from assent.commands import Compress, RunTool, Submit
from assent.session.log import Inboxed, NoSuchSession, SessionInfo, SessionLog


async def has_work(log: SessionLog, session: str) -> bool:
    """False for a session that is gone."""
    try:
        return can_go_on(await log.info(session), await log.inbox(session))
    except NoSuchSession:
        return False


def can_go_on(info: SessionInfo, inbox: Sequence[Inboxed]) -> bool:
    """An interrupted turn continues by itself. One that waits for a person continues with an answer, and keeps prompts
    waiting until it is over."""
    if info.unfinished and not info.waiting:
        return True
    return any(not (info.unfinished and isinstance(each.command, Submit | RunTool | Compress)) for each in inbox)
