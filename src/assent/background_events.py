"""Events about commands that run in the background of a session.

They are part of the union in `events.py`, which is where everyone else imports them from.
"""

from assent.event_base import EventBase


class BackgroundStarted(EventBase, frozen=True, tag="background.started"):
    """A call started a command that runs on after the call."""

    call_id: str
    command: str
    pid: int


class BackgroundKept(EventBase, frozen=True, tag="background.kept"):
    """A person wants it to go on when the session ends."""

    call_id: str
    path: str
    """The file to which its output goes from now on."""
    by: str = ""


class BackgroundEnded(EventBase, frozen=True, tag="background.ended"):
    call_id: str
    outcome: str
    """`exit 0`, `stopped`, `interrupted: …` and the like, for people."""
