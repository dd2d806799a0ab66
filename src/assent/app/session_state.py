"""The fold of a session's events: everything that is known about it."""

from assent.session.background_recorder import BackgroundCommand
from assent.session.state import RewindPoint, SessionState, fold, fold_readable

__all__ = (
    "BackgroundCommand",
    "RewindPoint",
    "SessionState",
    "fold",
    "fold_readable",
)
