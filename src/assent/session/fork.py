"""A fork: a new session that starts with everything an earlier one knew and continues on its own."""

import re
import time

from msgspec.structs import replace

from assent.events import (
    CommandTaken,
    Envelope,
    QueueHeld,
    SessionArchived,
    SessionCreated,
    SessionOpened,
    SessionRenamed,
)
from assent.session.log import LogDamaged, SessionLog, Stamp, new_session_id

_FORK = re.compile(r"(.*) \(fork(?: (\d+))?\)")
_OF_ONE_SESSION = SessionOpened | SessionArchived | CommandTaken | QueueHeld


async def fork_session(log: SessionLog, session: str, stamp: Stamp | None = None, by: str = "") -> str:
    """Copies the events into a new session. Waiting questions are asked again there: an answer covers one session.
    What is in the queue stays with the first one.
    """
    envelopes = await log.read(session)
    first = envelopes[0].event
    if not isinstance(first, SessionCreated):
        raise LogDamaged(f"session {session} does not start with its creation")
    copy = new_session_id()
    kept = [envelope for envelope in envelopes[1:] if not isinstance(envelope.event, _OF_ONE_SESSION)]
    now = time.time()
    named = [Envelope(0, now, session, event) for event in _name((await log.info(session)).title, by)]
    more = [Envelope(seq, e.ts, copy, e.event) for seq, e in enumerate([*kept, *named], start=2)]
    return await log.create(copy, now, replace(first, forked_from=session, by=by), more, stamp)


def _name(title: str, by: str) -> list[SessionRenamed]:
    """In a list of sessions, the two must differ; a session without a prompt is not listed."""
    if not title:
        return []
    forked = _FORK.fullmatch(title)
    return [SessionRenamed(f"{forked[1]} (fork {int(forked[2] or 1) + 1})" if forked else f"{title} (fork)", by)]
