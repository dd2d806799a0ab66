"""When each token was last used, and from where: saved now and then, so that a list can show which ones are in use.

It is a file of its own: the list of valid tokens is never written just because someone used one.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.app.private_files import save_private
from assent.safe_open import read_regular

USES = "token-uses.json"
SAVE_INTERVAL = 60.0
"""Seconds; a crash loses at most this much."""


class TokenUse(Struct, frozen=True):
    at: float
    address: str = ""


class TokenUses:
    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        """Without a path, something else keeps them."""
        self._path, self._clock = path, clock
        self._uses: dict[str, TokenUse] = {} if path is None else _read(path)
        self._is_saved = True

    def note(self, token_id: str, address: str) -> None:
        self._uses[token_id] = TokenUse(self._clock(), address)
        self._is_saved = False

    def last(self, token_id: str) -> TokenUse | None:
        return self._uses.get(token_id)

    def save(self, valid: Iterable[str]) -> None:
        """Keeps those of valid tokens; does nothing if nothing was used since the last time."""
        if not self._is_saved:
            self._is_saved = True
            kept = set(valid)
            self._uses = {token_id: use for token_id, use in self._uses.items() if token_id in kept}
            self._save()

    async def save_aside(self, valid: Iterable[str]) -> None:
        """Nobody waits for it."""
        await asyncio.to_thread(self.save, valid)

    def _save(self) -> None:
        if self._path is not None:
            save_private(self._path, msgspec.json.encode(self._uses))


def _read(path: Path) -> dict[str, TokenUse]:
    """For information only: a file that cannot be read counts as missing."""
    try:
        return msgspec.json.decode(read_regular(path, limit=100_000_000), type=dict[str, TokenUse])
    except (OSError, msgspec.MsgspecError):
        return {}
