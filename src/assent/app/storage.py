"""Opens the log that sessions are kept in. No other module knows which backend it is."""

import os
from collections.abc import Mapping
from pathlib import Path

from assent.config import data_folder
from assent.session.log import LogUnavailable, SessionLog
from assent.session.sqlite_log import SqliteLog

SCHEMES = ("postgresql://", "postgres://")
LOG_VARIABLE = "ASSENT_LOG"


def open_log(env: Mapping[str, str], *, read_only: bool = False, busy: bool = False) -> SessionLog:
    """Returns at once; a thread opens the file. `read_only` writes nothing at all; `busy` is for servers, where many
    sessions write at once. ASSENT_LOG may name a log elsewhere.
    """
    return open_log_at(env.get(LOG_VARIABLE) or str(data_folder(env)), read_only=read_only, busy=busy)


def open_log_at(place: str, *, read_only: bool = False, busy: bool = False) -> SessionLog:
    """`place` is the URL of a database, or the folder of a log on disk."""
    if place.startswith(SCHEMES):
        return _open_postgres(place)
    if "://" in place:
        raise LogUnavailable("the log must be a folder or a URL that starts with postgresql://")
    return SqliteLog(Path(os.path.expanduser(place)), read_only=read_only, busy=busy)


def _open_postgres(url: str) -> SessionLog:
    try:
        from assent.postgres.postgres_log import PostgresLog
    except ModuleNotFoundError as error:
        raise LogUnavailable("a log in PostgreSQL needs the extra `cluster`: pip install 'assent[cluster]'") from error
    return PostgresLog(url)
