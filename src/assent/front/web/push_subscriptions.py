"""The browsers that get web push messages about waiting questions: at most one per login, for as long as it lasts.

A subscription names a URL that this server will post to. Only the push services of browsers are accepted, and those
that the settings name: otherwise anybody with a token could make the server send requests into its own network.
"""

import fnmatch
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assent.app.private_files import save_private
from assent.app.push_messages import PushTarget, is_available, new_key, public_key, push_post
from assent.app.webhook_formats import QuestionNotice
from assent.app.webhook_posting import post_until_taken
from assent.config import PushSettings
from assent.front.web.access_tokens import Principal, TokenStore
from assent.safe_open import read_regular

PUSH = "push.json"
SERVICES = (
    "fcm.googleapis.com",
    "*.push.services.mozilla.com",
    "*.notify.windows.com",
    "*.push.apple.com",
)
GONE = (404, 410)
PROJECT = "https://github.com/assent-dev/assent"
"""The contact for a push service if the server itself has no public address."""


class Subscribed(Struct, frozen=True):
    token_id: str
    owner: str
    target: PushTarget


class _Stored(Struct):
    key: str = ""
    """This server's private key. Browsers are subscribed to it, so it stays the same."""
    subscriptions: dict[str, Subscribed] = {}
    """By token."""


class PushSubscriptions:
    def __init__(self, path: Path, settings: PushSettings, tokens: TokenStore, env: Mapping[str, str]) -> None:
        self._path, self._settings, self._tokens, self._env = path, settings, tokens, env
        self._stored = _read(path)
        self.address = ""
        """Where the page is; set when the server listens."""

    # --- subscribing ---

    def public_key(self) -> str:
        """Empty if this installation cannot push."""
        if not is_available():
            return ""
        if not self._stored.key:
            self._stored.key = new_key()
            self._save()
        return public_key(self._stored.key)

    def accepts(self, endpoint: str) -> bool:
        try:
            parts = urlsplit(endpoint)
            plain = parts.port in (None, 443) and not parts.username
        except ValueError:
            return False
        if f"{parts.scheme}://{parts.netloc}" in self._settings.services:
            return True
        known = any(fnmatch.fnmatchcase(parts.hostname or "", service) for service in SERVICES)
        return parts.scheme == "https" and plain and known

    def add(self, principal: Principal, target: PushTarget) -> None:
        self._stored.subscriptions[principal.token_id] = Subscribed(principal.token_id, principal.owner, target)
        self._save()

    def has(self, principal: Principal) -> bool:
        return principal.token_id in self._stored.subscriptions

    def remove(self, token_id: str, target: PushTarget | None = None) -> None:
        """With a target, only if it is still the one that was used."""
        known = self._stored.subscriptions.get(token_id)
        if known is not None and target in (None, known.target):
            del self._stored.subscriptions[token_id]
            self._save()

    def _save(self) -> None:
        save_private(self._path, msgspec.json.encode(self._stored))

    # --- sending ---

    def is_used(self) -> bool:
        return bool(self._stored.subscriptions) and is_available()

    def of(self, owner: str) -> Sequence["PushChannel"]:
        """Without those whose login has ended."""
        valid = {record.id for record in self._tokens.records()}
        for token_id in [one for one in self._stored.subscriptions if one not in valid]:
            self.remove(token_id)
        mine = [one for one in self._stored.subscriptions.values() if one.owner == owner]
        return [PushChannel(self, one, self._settings.delay) for one in mine]

    async def send(self, one: Subscribed, notice: QuestionNotice) -> None:
        contact = self.address if self.address.startswith("https://") else PROJECT
        message = msgspec.json.encode(notice)
        post = push_post(one.target, message, notice.id, self._stored.key, contact, time.time())
        if await post_until_taken(one.target.endpoint, post, self._env) in GONE:
            self.remove(one.token_id, one.target)


class PushChannel(Struct, frozen=True):
    subscriptions: PushSubscriptions
    subscribed: Subscribed
    delay: float

    async def send(self, notice: QuestionNotice) -> None:
        await self.subscriptions.send(self.subscribed, notice)


def _read(path: Path) -> _Stored:
    """A file that cannot be read counts as missing: browsers subscribe again when they open the page."""
    try:
        return msgspec.json.decode(read_regular(path, limit=100_000_000), type=_Stored)
    except (OSError, msgspec.MsgspecError):
        return _Stored()
