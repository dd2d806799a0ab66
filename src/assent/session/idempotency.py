"""Which requests have done their work: kept in the transaction that does it, so that neither is there alone.

A request that comes again comes soon: after a week its stamp goes, and with it the row of a command that was taken.
"""

import sqlite3
import time

from assent.session.log import Stamp, key_reused

KEPT_SECONDS = 7 * 24 * 3600
AT_ONCE = 20
"""More than whoever sweeps has added, so that what has piled up gets less; and few, so that nobody waits for it."""


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
    row = (stamp.key, stamp.digest, session, int(time.time()))
    db.execute("INSERT OR IGNORE INTO stamps (key, digest, session, at) VALUES (?, ?, ?, ?)", row)


def sweep(db: sqlite3.Connection) -> None:
    """A few of the oldest; never a command that waits, nor its stamp."""
    until = (int(time.time()) - KEPT_SECONDS, AT_ONCE)
    waits = "SELECT 1 FROM inbox WHERE inbox.session = stamps.session AND inbox.key = stamps.key AND taken = 0"
    old = f"SELECT key FROM stamps WHERE at < ? AND NOT EXISTS ({waits}) ORDER BY at LIMIT ?"
    db.execute(f"DELETE FROM stamps WHERE key IN ({old})", until)
    old = "SELECT id FROM inbox WHERE taken > 0 AND taken < ? ORDER BY taken LIMIT ?"
    db.execute(f"DELETE FROM inbox WHERE id IN ({old})", until)
