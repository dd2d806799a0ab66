"""Which requests have done their work: kept in the transaction that does it, so that neither is there alone."""

import sqlite3

from assent.session.log import Stamp, key_reused


def find(db: sqlite3.Connection, stamp: Stamp) -> str | None:
    """The session in which it did its work. Raises KeyReused when its key belongs to another request."""
    row = db.execute("SELECT digest, session FROM stamps WHERE key = ?", (stamp.key,)).fetchone()
    if row is None:
        return None
    digest, session = row
    if digest != stamp.digest:
        raise key_reused()
    return session


def keep(db: sqlite3.Connection, stamp: Stamp, session: str) -> None:
    db.execute("INSERT OR IGNORE INTO stamps VALUES (?, ?, ?)", (stamp.key, stamp.digest, session))
