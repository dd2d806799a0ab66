"""How the calls of a session run: what is the same for all of them."""

import time
from collections.abc import Awaitable, Callable

from msgspec import Struct, field

from assent.events import GateKind
from assent.scheduler.approvals import Clock
from assent.secrets.mask import Masker


class SchedulerOptions(Struct, frozen=True, kw_only=True):
    gate: GateKind = "batch"
    attended: bool = True
    """False: nobody can be asked, so whatever needs approval is refused."""
    max_parallel: int = 64
    approval_ttl: float | None = None
    """Seconds until an unanswered question expires; None: never."""
    clock: Clock = time.time
    """Gives the time of day, which may be changed."""
    timer: Clock = time.monotonic
    masker: Masker = field(default_factory=Masker)
    give_way: Callable[[], Awaitable[None]] | None = None
    """Awaited before a call runs: there may be something more urgent."""
    settle: Callable[[], Awaitable[None]] | None = None
    """Stores what a call keeps outside the log."""
