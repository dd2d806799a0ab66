"""Opens the log on disk for reading only, even where nothing can be written: on a read-only or full disk.

SQLite has to write some files next to a WAL database before it can read it. Where that fails, the file is read as
immutable, or from a copy in memory. This module knows files and connections, and nothing about sessions.
"""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from assent.session.migrations import CURRENT_VERSION, layout_of, migrate

_COPY_TO = (None, "/dev/shm")
"""The default folder for temporary files, then one in memory."""


class _Outdated(sqlite3.OperationalError):
    """The file has an older layout; only a copy may be migrated."""


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A log that does not exist counts as empty. Raises sqlite3.Error, OSError or LogUnavailable."""
    if not _exists(path):
        return _empty(path)
    reasons: list[Exception] = []
    for attempt in (_shared, _unchanging, _copied):
        try:
            return attempt(path)
        except (sqlite3.OperationalError, OSError) as error:
            reasons.append(error)
    raise reasons[0]


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def _empty(path: Path) -> sqlite3.Connection:
    db = _connect(":memory:")
    migrate(db, str(path))
    return db


def _shared(path: Path) -> sqlite3.Connection:
    return _current(_connect(f"{path.absolute().as_uri()}?mode=ro"), path)


def _unchanging(path: Path) -> sqlite3.Connection:
    """Only without a journal: its content would be ignored."""
    journal = Path(f"{path}-wal")
    if journal.exists() and journal.stat().st_size:
        raise sqlite3.OperationalError(f"{journal} has to be read as well")
    return _current(_connect(f"{path.absolute().as_uri()}?immutable=1"), path)


def _copied(path: Path) -> sqlite3.Connection:
    reasons: list[Exception] = []
    for place in _COPY_TO:
        try:
            with tempfile.TemporaryDirectory(prefix="assent-", dir=place) as folder:
                return _in_memory(path, Path(folder))
        except (sqlite3.OperationalError, OSError) as error:
            reasons.append(error)
    raise reasons[-1]


def _in_memory(path: Path, folder: Path) -> sqlite3.Connection:
    for name in (path.name, f"{path.name}-wal"):
        if os.path.exists(path.with_name(name)):
            shutil.copyfile(path.with_name(name), folder / name)
    memory = _connect(":memory:")
    with closing(_connect(str(folder / path.name))) as copy:
        migrate(copy, str(path))
        copy.backup(memory)
    return memory


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False, timeout=10)


def _current(db: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Reads from it immediately, so that errors appear here."""
    try:
        version = layout_of(db)
        if version < CURRENT_VERSION:
            raise _Outdated(f"{path} has an older layout")
        migrate(db, str(path))  # here it only refuses a newer layout
        db.execute("SELECT 1 FROM sessions LIMIT 1").fetchall()
    except BaseException:
        db.close()
        raise
    return db
