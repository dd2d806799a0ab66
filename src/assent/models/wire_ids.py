"""Call ids on the wire. Providers reject long ids and unusual characters; Assent's ids may contain a dot or be longer.

An id that every provider accepts is sent as it is. Any other is replaced by one derived from it, always the same: the
provider's cache of the conversation stays valid, and a result matches its call. Pure.
"""

import hashlib
import re

_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{1,64}")


def wire_id(call_id: str) -> str:
    if _ACCEPTED.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode(errors='surrogatepass')).hexdigest()[:24]}"
