"""A session as JSON lines to give to others: every event, or the telemetry, with secrets masked.

The log itself keeps exactly what was requested, approved and read from files, because resuming and replaying depend
on it. What leaves the machine does not need to be exact.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from assent.events import CallStarted, Envelope, FileChange, to_wire
from assent.secrets.mask import Masker
from assent.session.log import Unreadable
from assent.telemetry import records


def event_lines(entries: Iterable[Envelope | Unreadable], masker: Masker) -> Iterator[str]:
    """An unreadable event gets a line that says so, in its place."""
    for entry in entries:
        match entry:
            case Unreadable():
                yield _masked(
                    msgspec.json.encode({"seq": entry.seq, "type": "unreadable", "problem": entry.problem}), masker
                )
            case Envelope():
                yield _masked(to_wire(_with_masked_content(entry, masker)), masker)


def telemetry_lines(envelopes: Iterable[Envelope], masker: Masker) -> Iterator[str]:
    return (_masked(record, masker) for record in records(envelopes))


def _masked(line: bytes, masker: Masker) -> str:
    return msgspec.json.encode(masker.data(msgspec.json.decode(line))).decode()


def _with_masked_content(envelope: Envelope, masker: Masker) -> Envelope:
    """A file's previous content is in the event as bytes, which are not text on the wire."""
    match envelope.event:
        case CallStarted(change=FileChange(before=bytes() as before) as change):
            masked = masker.text(before.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            return replace(envelope, event=replace(envelope.event, change=replace(change, before=masked)))
        case _:
            return envelope
