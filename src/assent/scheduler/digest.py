"""A digest of exactly what is approved: changing any part of it makes a different action.

The digest covers the session, the call, the tool, the arguments, and everything that was shown: for an edit the whole
content before and after, for a command its directory.
"""

import msgspec

from assent.approval import Details
from assent.parts import JsonObject

_encoder = msgspec.json.Encoder(order="deterministic")


def action_digest(session: str, call_id: str, tool: str, args: JsonObject, details: Details | None) -> str:
    frozen = _encoder.encode([session, call_id, tool, args, details])
    import hashlib

    return hashlib.sha256(frozen).hexdigest()


def run_mark(session: str, call_id: str) -> str:
    """The mark on everything a call starts: stable for the call, but different in a fork of the session."""
    import hashlib

    return hashlib.sha256(_encoder.encode([session, call_id])).hexdigest()[:32]
