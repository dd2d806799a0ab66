"""The port `RunningSession`: a session that runs in this process. `runner` has the one that there is."""

from typing import Protocol

from assent.commands import Command
from assent.events import Envelope
from assent.scheduler.call import AwaitingApproval
from assent.session.hub import Subscription
from assent.session.state import SessionState


class RunningSession(Protocol):
    """What runs a session in this process, as far as engines and front ends may know it."""

    opened_at: int
    """The number of the event with which this process took over."""

    @property
    def session(self) -> str: ...

    @property
    def state(self) -> SessionState: ...

    @property
    def idle(self) -> bool: ...

    @property
    def resting(self) -> bool:
        """Nothing goes on here by itself: closing it now would cost nothing but the way back."""
        ...

    @property
    def failure(self) -> BaseException | None:
        """Why the session can no longer write, if so."""
        ...

    def waiting(self) -> list[AwaitingApproval]: ...

    def subscribe(self) -> Subscription: ...

    async def read(self, after: int = 0) -> list[Envelope]: ...

    async def send(self, command: Command, key: str | None = None) -> str:
        """Hands in a command; durable when this returns. The outcome comes as `command.taken` with the same key."""
        ...

    async def caught_up(self) -> None:
        """Waits until the commands were taken that came while nobody had the session open."""
        ...

    async def close(self) -> None: ...
