"""What a person does to sessions that are not open: rename, delete, search what was said in them."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.app.lookup import begun_sessions
from assent.app.output_folders import forget_outputs
from assent.app.storage import blob_store, is_shared
from assent.config import load_settings
from assent.events import Envelope, ModelReplied, PromptSubmitted, SessionRenamed
from assent.parts import Text
from assent.session.log import LogDamaged, NoSuchSession, SessionBusy, SessionInfo, SessionLog, title_of

PRUNED_AT_ONCE = 200
if TYPE_CHECKING:
    from assent.blob_store import BlobStore

AROUND = 60
"""Characters before and after what was found."""


class FoundSession(Struct, frozen=True):
    info: SessionInfo
    passage: str


async def rename_session(log: SessionLog, session: str, title: str, by: str) -> None:
    """Raises SessionBusy if some process has it open. A title without visible characters changes nothing."""
    if not (seen := title_of(title)):
        return
    fence = await log.acquire(session)
    try:
        info = await log.info(session)
        await log.append(fence, [Envelope(info.events + 1, time.time(), session, SessionRenamed(seen, by))])
    finally:
        await log.release(fence)


async def delete_session(env: Mapping[str, str], log: SessionLog, session: str) -> None:
    """With the outputs that were kept for it; raises SessionBusy if some process has it open."""
    await log.delete(session)
    await forget_outputs(env, session, _store(env, log))


def _store(env: Mapping[str, str], log: SessionLog) -> "BlobStore | None":
    return blob_store(log, load_settings(env).blobs, env) if is_shared(env) else None


async def prune_sessions(env: Mapping[str, str], log: SessionLog, before: float, by: str) -> int:
    """Deletes the sessions that are over and have not changed since then, each with its outputs. Returns how many."""
    deleted = skipped = 0
    store = _store(env, log)
    while found := await log.finished(before, PRUNED_AT_ONCE, skipped):
        for info in found:
            try:
                await log.delete(info.id, seen=info.events, by=by)
            except NoSuchSession:
                continue  # someone else deleted it
            except SessionBusy:
                skipped += 1
                continue
            await forget_outputs(env, info.id, store)
            deleted += 1
    return deleted


async def search_sessions(log: SessionLog, wanted: str) -> Sequence[FoundSession]:
    """Those in which someone said it, newest first, each with the newest passage."""
    return [
        FoundSession(info, passage)
        for info in await begun_sessions(log)
        if (passage := await _newest_passage(log, info, wanted.casefold()))
    ]


async def _newest_passage(log: SessionLog, info: SessionInfo, wanted: str) -> str:
    try:
        events = await log.read(info.id)
    except (NoSuchSession, LogDamaged):  # deleted just now, or unreadable
        return ""
    for envelope in reversed(events):
        text = _said(envelope)
        at = text.casefold().find(wanted)
        if at >= 0:
            return " ".join(text[max(at - AROUND, 0) : at + len(wanted) + AROUND].split())
    return ""


def _said(envelope: Envelope) -> str:
    match envelope.event:
        case PromptSubmitted(text=text):
            return text
        case ModelReplied(parts=parts):
            return "\n".join(part.text for part in parts if isinstance(part, Text))
        case _:
            return ""
