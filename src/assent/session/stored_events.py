"""Decodes what a log has stored, and says what cannot be read. Shared by the backends; knows no database."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

import msgspec

from assent.events import Envelope, NewerFormat, PromptSubmitted, decode_event
from assent.session.log import LogDamaged, Unreadable

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def readable(decode: Callable[[_In], _Out], rows: Iterable[_In]) -> list[_Out]:
    """Skips rows that cannot be read (damaged, or from a newer Assent); they do not affect the others."""
    found: list[_Out] = []
    for row in rows:
        with suppress(msgspec.MsgspecError, NewerFormat):
            found.append(decode(row))
    return found


def prompt_text(v: int, data: bytes) -> str | None:
    """The text of a prompt; None if it cannot be read, so that the rest of the history remains usable."""
    try:
        event = decode_event(data, v)
    except (msgspec.MsgspecError, NewerFormat):
        return None
    return event.text if isinstance(event, PromptSubmitted) else None


def readable_or_not(session: str, seq: int, ts: float, v: int, data: bytes) -> Envelope | Unreadable:
    try:
        return Envelope(seq, ts, session, decode_event(data, v))
    except (msgspec.MsgspecError, NewerFormat) as error:
        return Unreadable(seq, str(error))


def decode_envelope(session: str, seq: int, ts: float, v: int, data: bytes) -> Envelope:
    """Raises LogDamaged."""
    found = readable_or_not(session, seq, ts, v, data)
    if isinstance(found, Unreadable):
        raise LogDamaged(
            f"event {seq} of session {session} cannot be read: {found.problem}. "
            f"`assent sessions show {session}` shows the rest"
        )
    return found
