"""Limits for each client: sizes, rates, connections."""

import time
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol

from msgspec import Struct

from assent.shared_limits import SharedLimits


class RequestLimits(Struct, frozen=True, kw_only=True):
    body: int = 1_000_000
    login_body: int = 4_000
    large_body: int = 8_000_000
    """For messages and decisions, which may carry whole files."""
    upload_body: int = 14_000_000
    """For a file that goes with a prompt: the largest one that a model gets, in base64."""
    body_seconds: float = 30.0
    """Within which the whole body must arrive."""
    requests_per_second: float = 200.0
    burst: int = 400
    clients: int = 1_000
    """How many clients' rates are remembered."""
    failed_logins_per_minute: int = 10
    """From one address; a valid code is never refused."""
    logged_refusals_per_minute: int = 60
    """From one address; more are only in the most detailed log."""
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


class RateLimit(Protocol):
    async def allows(self, who: str) -> bool:
        """Counts it."""
        ...


class Rates:
    """One bucket per client. The oldest are forgotten."""

    def __init__(self, per_second: float, burst: int, clients: int) -> None:
        self._per_second, self._burst, self._clients = per_second, burst, clients
        self._buckets: dict[str, Bucket] = {}

    def take(self, who: str) -> bool:
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= self._clients:
                del self._buckets[next(iter(self._buckets))]
            bucket = self._buckets[who] = Bucket(self._per_second, self._burst)
        return bucket.take()

    async def allows(self, who: str) -> bool:
        return self.take(who)


LEASE = 20
"""How many requests of one client a server reserves at once, so that it need not ask the database for each of them."""
LEASE_SECONDS = 5.0
"""Seconds after which what is left of a reservation expires."""


class SharedRates:
    """Limits all servers together. A server may allow a few more requests: those that it has reserved but not used."""

    def __init__(
        self,
        shared: SharedLimits,
        kind: str,
        rates: tuple[float, int],
        lease: int = LEASE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared, self._kind, self._rates, self._lease, self._clock = shared, kind, rates, lease, clock
        self._leased: dict[str, tuple[int, float]] = {}

    async def allows(self, who: str) -> bool:
        """Raises LogError."""
        left, until = self._leased.pop(who, (0, 0.0))
        if not left or self._clock() > until:
            per_second, burst = self._rates
            left = await self._shared.take(self._kind, who, per_second=per_second, burst=burst, wanted=self._lease)
            until = self._clock() + LEASE_SECONDS
            left += self._leased.get(who, (0, 0.0))[0]  # of a request that arrived meanwhile
        if left > 1:
            self._leased[who] = (left - 1, until)
            self._forget_old()
        return left > 0

    def _forget_old(self) -> None:
        now = self._clock()
        while self._leased and (first := next(iter(self._leased.items())))[1][1] < now:
            del self._leased[first[0]]


def request_rates(limits: RequestLimits, shared: SharedLimits | None = None) -> RateLimit:
    rates = (limits.requests_per_second, limits.burst)
    return Rates(*rates, limits.clients) if shared is None else SharedRates(shared, "requests", rates)


def failed_login_rates(limits: RequestLimits, shared: SharedLimits | None = None) -> RateLimit:
    rates = (limits.failed_logins_per_minute / 60, limits.failed_logins_per_minute)
    return Rates(*rates, limits.clients) if shared is None else SharedRates(shared, "failed logins", rates, lease=1)


def logged_refusal_rates(limits: RequestLimits) -> Rates:
    return Rates(limits.logged_refusals_per_minute / 60, limits.logged_refusals_per_minute, limits.clients)


def source_of(address: str) -> str:
    """Clients whose failed logins count together: one IPv6 client usually has a whole /64 network of addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, 64), strict=False))
    return str(found)
