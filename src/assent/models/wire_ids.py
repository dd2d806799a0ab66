"""Call ids on the wire. Providers refuse long ids and ids with other characters; ours may have a dot or be longer.

An id that every provider takes goes as it is. Any other becomes one made from it, always the same: what is cached of
the conversation stays valid, and a result finds its call. Pure.
"""

import hashlib
import re

_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{1,64}")


def wire_id(call_id: str) -> str:
    if _ACCEPTED.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:24]}"
