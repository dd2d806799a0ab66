"""Connects a server to the workers that run its sessions, so that it receives their events as they happen."""

from typing import TYPE_CHECKING

from assent.app.storage import worker_directory
from assent.bus.event_subscriber import EventSubscriber, Heard

if TYPE_CHECKING:
    from assent.app.session_log import SessionLog

__all__ = ("EventSubscriber", "Heard", "subscribe")


def subscribe(log: "SessionLog", heard: Heard) -> EventSubscriber:
    return EventSubscriber(worker_directory(log), heard)
