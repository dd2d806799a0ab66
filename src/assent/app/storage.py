"""Opens the log that sessions are kept in. No other module knows which backend it is."""

from collections.abc import Mapping

from assent.config import data_folder
from assent.session.log import SessionLog
from assent.session.sqlite_log import SqliteLog


def open_log(env: Mapping[str, str], *, read_only: bool = False, busy: bool = False) -> SessionLog:
    """Returns at once; a thread opens the file. `read_only` writes nothing at all; `busy` is for servers, where many
    sessions write at once.
    """
    return SqliteLog(data_folder(env), read_only=read_only, busy=busy)
