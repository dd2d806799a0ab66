"""Which requests have taken effect: stored in the same transaction as the effect, so that neither exists alone.

A repeated request comes soon: after a week its stamp is deleted, and with it the row of a command that was taken.
"""

import sqlite3
import time

from assent.session.log import Stamp, key_reused

KEPT_SECONDS = 7 * 24 * 3600
SWEEP_SIZE = 20
"""More than one request adds, so that a backlog shrinks; and few, so that nobody waits for it."""


def find(db: sqlite3.Connection, stamp: Stamp) -> str | None:
    """The session in which it took effect. Raises KeyReused if its key belongs to another request."""
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
    """Deletes a few of the oldest; never a waiting command or its stamp."""
    until = (int(time.time()) - KEPT_SECONDS, SWEEP_SIZE)
    waits = "SELECT 1 FROM inbox WHERE inbox.session = stamps.session AND inbox.key = stamps.key AND taken = 0"
    old = f"SELECT key FROM stamps WHERE at < ? AND NOT EXISTS ({waits}) ORDER BY at LIMIT ?"
    db.execute(f"DELETE FROM stamps WHERE key IN ({old})", until)
    old = "SELECT id FROM inbox WHERE taken > 0 AND taken < ? ORDER BY taken LIMIT ?"
    db.execute(f"DELETE FROM inbox WHERE id IN ({old})", until)
