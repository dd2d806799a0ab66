"""The subscribers of a session: each gets every event from the moment it subscribed, in order.

A subscriber is in this process and buffers what it has not read yet; remote clients are the server's business.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence

from assent.events import Envelope


class Subscription:
    """An endless stream of envelopes; ends when the hub or the subscriber closes it."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._unread: deque[Envelope] = deque()
        self._more = asyncio.Event()
        self._closed = False

    def feed(self, envelope: Envelope) -> None:
        self._unread.append(envelope)
        self._more.set()

    @property
    def caught_up(self) -> bool:
        """Whether everything so far has been read."""
        return not self._unread

    def close(self) -> None:
        self._closed = True
        self._more.set()
        self._hub.forget(self)

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        while True:
            while self._unread:
                yield self._unread.popleft()
            if self._closed:
                return
            self._more.clear()
            await self._more.wait()


class Hub:
    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self.listeners: Sequence[Callable[[Envelope], None]] = ()
        """Called synchronously, before all others; they must not raise or block."""

    def subscribe(self) -> Subscription:
        subscription = Subscription(self)
        self._subscriptions.append(subscription)
        return subscription

    def forget(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish(self, envelope: Envelope) -> None:
        for listener in self.listeners:
            listener(envelope)
        for subscription in self._subscriptions:
            subscription.feed(envelope)

    def close(self) -> None:
        for subscription in list(self._subscriptions):
            subscription.close()
