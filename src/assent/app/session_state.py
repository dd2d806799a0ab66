"""The fold of a session's events: everything that is known about it."""

from assent.session.state import SessionState, fold, fold_readable

__all__ = (
    "SessionState",
    "fold",
    "fold_readable",
)
