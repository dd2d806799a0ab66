"""Finds words in what people and models said, in all sessions of an owner, newest first.

There is no index: the log is read, for a few seconds at most, and the answer says if that was not enough.
"""

import asyncio
import time
from collections.abc import Iterator

from assent.app.session_log import LogError, SessionInfo, SessionLog
from assent.events import Envelope, ModelReplied, PromptSubmitted
from assent.front.web.api_types import Found
from assent.parts import Text

MAX_SECONDS = 3.0
EVENTS_PER_READ = 500
BEFORE, LENGTH = 40, 160
"""Characters of a snippet: before the first word, and in all."""


async def search(log: SessionLog, sessions: list[SessionInfo], query: str, limit: int) -> tuple[list[Found], bool]:
    """One match of each session: the newest. And whether all of them were read."""
    words = query.casefold().split()
    until = time.monotonic() + MAX_SECONDS
    found: list[Found] = []
    for info in sessions if words else ():
        if len(found) >= limit or time.monotonic() > until:
            return found, False
        if match := await _search(log, info, words):
            found.append(match)
    return found, True


async def _search(log: SessionLog, info: SessionInfo, words: list[str]) -> Found | None:
    after, newest = 0, None
    while after < info.events:
        try:
            events = await log.read(info.id, after, EVENTS_PER_READ)
        except LogError:
            return newest  # unreadable or deleted meanwhile
        if not events:
            break
        for envelope in events:
            newest = _match(info, envelope, words) or newest
        after = events[-1].seq
        await asyncio.sleep(0)
    return newest


def _match(info: SessionInfo, envelope: Envelope, words: list[str]) -> Found | None:
    for text in _said(envelope):
        folded = text.casefold()
        if all(word in folded for word in words):
            who = "prompt" if isinstance(envelope.event, PromptSubmitted) else "reply"
            return Found(
                session=info.id,
                title=info.title,
                folder=info.folder,
                at=envelope.ts,
                where=who,
                text=_snippet(text, folded.index(words[0])),
            )
    return None


def _said(envelope: Envelope) -> Iterator[str]:
    match envelope.event:
        case PromptSubmitted(text=text):
            yield text
        case ModelReplied(parts=parts):
            yield from (part.text for part in parts if isinstance(part, Text))
        case _:
            pass


def _snippet(text: str, at: int) -> str:
    """Case folding may change the length of a text, so the place is close, not exact."""
    begin = max(0, at - BEFORE)
    shown = " ".join(text[begin : begin + LENGTH].split())
    return ("… " if begin else "") + shown + (" …" if begin + LENGTH < len(text) else "")
