"""The fold of the events of a session: all that can be known of it."""

from assent.session.state import SessionState, fold, fold_readable

__all__ = (
    "SessionState",
    "fold",
    "fold_readable",
)
