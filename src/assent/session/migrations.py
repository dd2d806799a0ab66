"""The tables of the log on disk, and the migrations from each older layout to the newest."""

import sqlite3
from collections.abc import Iterator

from assent.events import VERSION, Envelope, decode_event
from assent.session.audit_table import AUDIT_TABLE
from assent.session.index import Index
from assent.session.log import LogUnavailable
from assent.session.projection import INDEXED
from assent.session.spending_index import SPENDING_TABLE, SPENDING_TYPES

_FIRST = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, epoch INTEGER NOT NULL, next_seq INTEGER NOT NULL, folder TEXT NOT NULL, model TEXT NOT NULL,
    title TEXT NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    session TEXT NOT NULL, seq INTEGER NOT NULL, ts REAL NOT NULL, type TEXT NOT NULL, v INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inbox (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, key TEXT NOT NULL, taken INTEGER NOT NULL DEFAULT 0,
    data BLOB NOT NULL, UNIQUE (session, key)
)"""
_INDEX = """
ALTER TABLE sessions ADD COLUMN mode TEXT NOT NULL DEFAULT 'default';
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
CREATE TABLE approvals (
    session TEXT NOT NULL, call_id TEXT NOT NULL, asked_at REAL NOT NULL, expires_at REAL, data BLOB NOT NULL,
    PRIMARY KEY (session, call_id)
) WITHOUT ROWID;
CREATE INDEX approvals_expire ON approvals (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX inbox_waiting ON inbox (session) WHERE taken = 0"""
_STAMPS = """
CREATE TABLE stamps (key TEXT PRIMARY KEY, digest BLOB NOT NULL, session TEXT NOT NULL) WITHOUT ROWID"""
_TIMES = """
ALTER TABLE stamps ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
UPDATE stamps SET at = strftime('%s', 'now');
UPDATE inbox SET taken = strftime('%s', 'now') WHERE taken;
CREATE INDEX stamps_by_age ON stamps (at);
CREATE INDEX inbox_by_age ON inbox (taken) WHERE taken > 0"""
"""From here on, `taken` is a time; commands taken under an older layout count as taken now."""
_ARCHIVE = """
ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0"""
LAYOUTS = (_FIRST, _INDEX, _STAMPS, _TIMES, SPENDING_TABLE, AUDIT_TABLE, _ARCHIVE)
"""Each creates its layout from the one before."""
CURRENT_VERSION = len(LAYOUTS)
_WITH_SPENDING = LAYOUTS.index(SPENDING_TABLE) + 1


def migrate(db: sqlite3.Connection, path: str) -> None:
    """All or nothing, even if two processes start at once."""
    version = layout_of(db)
    if version > CURRENT_VERSION:
        raise LogUnavailable(f"{path} was written by a newer Assent (layout {version}); upgrade Assent")
    if version == CURRENT_VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = layout_of(db)
        for layout in LAYOUTS[version:]:
            for statement in _statements(layout):
                db.execute(statement)
        if version == 1:
            _index_all(db, INDEXED)
        elif 1 < version < _WITH_SPENDING:
            _index_all(db, SPENDING_TYPES)
        db.execute(f"PRAGMA user_version = {CURRENT_VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _statements(layout: str) -> Iterator[str]:
    """A trigger has semicolons inside, so SQLite says where a statement ends."""
    statement = ""
    for piece in layout.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def layout_of(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _index_all(db: sqlite3.Connection, kinds: tuple[str, ...]) -> None:
    """Builds the index as if it had existed from the beginning. Unreadable events are left out."""
    index = Index()
    found = f"SELECT session, seq, ts, v, data FROM events WHERE type IN ({', '.join('?' * len(kinds))}) "
    for session, seq, ts, v, data in db.execute(found + "ORDER BY session, seq", kinds).fetchall():
        if v <= VERSION:
            index.add(db, session, [Envelope(seq, ts, session, decode_event(data, v))])
