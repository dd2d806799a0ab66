"""Call ids on the wire. Providers reject long ids and unusual characters; Assent's ids may contain a dot or be longer.

An id that every provider accepts is sent as it is. Any other is replaced by one derived from it, always the same: the
provider's cache of the conversation stays valid, and a result matches its call. Pure.
"""

import re

from assent.models.model_protocol import Request
from assent.parts import Call, ModelMessage

_COUNTED = re.compile(r"(?:.*[^A-Za-z0-9:])?\d{1,5}", re.DOTALL)
_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{1,64}")


def wire_id(call_id: str) -> str:
    if _ACCEPTED.fullmatch(call_id):
        return call_id
    import hashlib

    return f"call_{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:24]}"


def earlier_ids(request: Request) -> set[str]:
    """Of the calls in the conversation so far."""
    replies = (message for message in request.messages if isinstance(message, ModelMessage))
    return {part.call_id for reply in replies for part in reply.parts if isinstance(part, Call)}


def own_id(call_id: str | None, used: set[str]) -> str | None:
    """The id of a call in a reply, if it differs from all others of the conversation; None means that one is generated.

    Some servers count from 0 in every reply, so that each reply has a `call_0`.
    """
    if not call_id or call_id in used or _COUNTED.fullmatch(call_id):
        return None
    used.add(call_id)
    return call_id
