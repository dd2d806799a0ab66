"""Limits for each client: sizes, rates, connections."""

import time
from collections.abc import Callable

from msgspec import Struct


class RequestLimits(Struct, frozen=True, kw_only=True):
    body: int = 1_000_000
    large_body: int = 8_000_000
    """For messages and decisions, which may carry whole files."""
    body_seconds: float = 30.0
    """Within which the whole body must arrive."""
    requests_per_second: float = 200.0
    burst: int = 400
    clients: int = 1_000
    """How many clients' rates are remembered."""
    logins_per_minute: int = 10
    streams: int = 2_000
    streams_of_one: int = 256
    requests: int = 512
    """Concurrent requests, not counting streams."""


class Bucket:
    """A token bucket: allows `burst` at once, and `per_second` more each second."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left, self._at = burst, clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Rates:
    """One bucket per client. Unused ones are forgotten."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._buckets: dict[str, Bucket] = {}
        self.logins = Bucket(limits.logins_per_minute / 60, limits.logins_per_minute)

    def take(self, who: str) -> bool:
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= self._limits.clients:
                del self._buckets[next(iter(self._buckets))]
            bucket = self._buckets[who] = Bucket(self._limits.requests_per_second, self._limits.burst)
        return bucket.take()
