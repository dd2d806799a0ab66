"""The browsers that get web push messages about waiting questions: at most one per login, for as long as it lasts.

A subscription names a URL that this server will post to. Only the push services of browsers are accepted, and those
that the settings name: otherwise anyone with a token could make the server send requests into its own network.
"""

import fnmatch
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assent.app.push_messages import PushTarget, is_available, public_key, push_post
from assent.app.webhook_formats import QuestionNotice
from assent.app.webhook_posting import post_until_taken
from assent.config import PushSettings
from assent.front.web.access_tokens import Principal, TokenBook
from assent.front.web.push_storage import PushStore, Subscribed

SERVICES = (
    "fcm.googleapis.com",
    "*.push.services.mozilla.com",
    "*.notify.windows.com",
    "*.push.apple.com",
)
GONE = (404, 410)
PROJECT = "https://github.com/assent-dev/assent"
"""The contact for a push service if the server itself has no public address."""


class PushSubscriptions:
    def __init__(self, store: PushStore, settings: PushSettings, tokens: TokenBook, env: Mapping[str, str]) -> None:
        self._store, self._settings, self._tokens, self._env = store, settings, tokens, env
        self.address = ""
        """Where the page is; set when the server listens."""

    # --- subscribing ---

    async def public_key(self) -> str:
        """Empty if this installation cannot push."""
        return public_key(await self._store.key()) if is_available() else ""

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

    async def add(self, principal: Principal, target: PushTarget) -> None:
        self._store.put(principal.token_id, Subscribed(principal.token_id, principal.owner, target))
        await self._store.settled()

    def has(self, principal: Principal) -> bool:
        return principal.token_id in self._store.subscriptions()

    def remove(self, token_id: str, target: PushTarget | None = None) -> None:
        """With a target, only if it is still the one that was used."""
        known = self._store.subscriptions().get(token_id)
        if known is not None and target in (None, known.target):
            self._store.put(token_id, None)

    # --- sending ---

    def is_used(self) -> bool:
        return bool(self._store.subscriptions()) and is_available()

    def of(self, owner: str) -> Sequence["PushChannel"]:
        """Without those whose login has ended."""
        valid = {record.id for record in self._tokens.records()}
        for token_id in [one for one in self._store.subscriptions() if one not in valid]:
            self.remove(token_id)
        mine = [one for one in self._store.subscriptions().values() if one.owner == owner]
        return [PushChannel(self, one, self._settings.delay) for one in mine]

    async def send(self, one: Subscribed, notice: QuestionNotice) -> None:
        if not await self._store.claims(f"{notice.event} {notice.id} {one.token_id}"):
            return
        contact = self.address if self.address.startswith("https://") else PROJECT
        message = msgspec.json.encode(notice)
        post = push_post(one.target, message, notice.id, await self._store.key(), contact, time.time())
        if await post_until_taken(one.target.endpoint, post, self._env) in GONE:
            self.remove(one.token_id, one.target)


class PushChannel(Struct, frozen=True):
    subscriptions: PushSubscriptions
    subscribed: Subscribed
    delay: float

    async def send(self, notice: QuestionNotice) -> None:
        await self.subscriptions.send(self.subscribed, notice)
