"""Where sessions are stored, and what can go wrong there. `storage` opens it."""

from assent.session.log import (
    KeyReused,
    LogError,
    LogUnavailable,
    NoSuchSession,
    SessionBusy,
    SessionInfo,
    SessionLog,
    SessionPage,
    Stamp,
    Unreadable,
    Waiting,
    key_reused,
    session_busy,
)

__all__ = (
    "KeyReused",
    "LogError",
    "LogUnavailable",
    "NoSuchSession",
    "SessionBusy",
    "SessionInfo",
    "SessionLog",
    "SessionPage",
    "Stamp",
    "Unreadable",
    "Waiting",
    "key_reused",
    "session_busy",
)
