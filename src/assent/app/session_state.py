"""The fold of a session's events: everything that is known about it."""

from assent.session.background import BackgroundCommand
from assent.session.state import SessionState, fold, fold_readable

__all__ = (
    "BackgroundCommand",
    "SessionState",
    "fold",
    "fold_readable",
)
