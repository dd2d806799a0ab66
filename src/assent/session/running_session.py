"""The port `RunningSession`: a session that runs in this process. `runner` implements it."""

from typing import Protocol

from assent.commands import Command
from assent.events import Envelope
from assent.scheduler.call import AwaitingApproval
from assent.session.hub import Subscription
from assent.session.state import SessionState


class RunningSession(Protocol):
    """What engines and front ends may know about whatever runs a session in this process."""

    opened_at: int
    """The sequence number of the event with which this process took over."""

    @property
    def session(self) -> str: ...

    @property
    def state(self) -> SessionState: ...

    @property
    def idle(self) -> bool: ...

    @property
    def resting(self) -> bool:
        """Nothing is in progress: closing it now costs no more than opening it again."""
        ...

    @property
    def failure(self) -> BaseException | None:
        """Why the session can no longer write, if it cannot."""
        ...

    def waiting(self) -> list[AwaitingApproval]: ...

    def subscribe(self) -> Subscription: ...

    async def read(self, after: int = 0) -> list[Envelope]: ...

    async def send(self, command: Command, key: str | None = None) -> str:
        """Sends a command; durable when this returns. The outcome comes as `command.taken` with the same key."""
        ...

    def type_in(self, call_id: str, number: int, text: str | None) -> str:
        """Types a line for a prompt of a running command; None is the end of its input. Returns why it cannot."""
        ...

    async def caught_up(self) -> None:
        """Waits until the commands that arrived while nobody had the session open are taken, and the questions of
        earlier processes are judged again."""
        ...

    async def close(self) -> None: ...
