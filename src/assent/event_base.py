"""The shape that all events share."""

from msgspec import Struct


class EventBase(Struct, frozen=True, gc=False, tag_field="type", omit_defaults=True):
    """Common shape. No event may use the envelope's names: seq, ts, session, v.

    `gc=False`, here and for all that events are made of: frozen trees of plain data cannot form cycles, so the
    garbage collector need not traverse them.
    """
