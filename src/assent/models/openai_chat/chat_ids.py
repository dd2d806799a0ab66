"""Call ids on the wire. Servers reject long ids, unusual characters, and duplicates; Assent's ids may be anything.

An id that every server accepts is sent as it is. Any other is replaced by one derived from it, always the same: the
server's cache of the conversation stays valid, and a result matches its call.
"""

import re
import string
from typing import Literal

_SHORT = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_LETTERS = string.digits + string.ascii_letters


class WireIds:
    """The ids of one request."""

    def __init__(self, style: Literal["short", "nine"]) -> None:
        self._style = style
        self._used: set[str] = set()

    def take(self, call_id: str) -> str:
        """A new id for the next call, different from all before."""
        wire_id, n = self._fit(call_id), 0
        while wire_id in self._used:
            n += 1
            wire_id = self._made(f"{call_id}#{n}")
        self._used.add(wire_id)
        return wire_id

    def _fit(self, call_id: str) -> str:
        pattern = _NINE if self._style == "nine" else _SHORT
        return call_id if pattern.fullmatch(call_id) else self._made(call_id)

    def _made(self, text: str) -> str:
        import hashlib

        digest = hashlib.sha256(text.encode(errors="surrogatepass"))
        if self._style == "short":
            return f"call_{digest.hexdigest()[:24]}"
        number = int.from_bytes(digest.digest()[:16], "big")
        return "".join(_LETTERS[number // 62**place % 62] for place in range(9))
