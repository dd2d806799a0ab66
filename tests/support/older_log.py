"""A log on disk as an earlier version of Assent left it: built from that version's own tables, whatever came later."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from assent.session.migrations import LAYOUTS

TIMES = 4
"""The first layout in which `taken` is a time; before, it said only whether a command was taken."""


def take_back_to(path: Path, version: int) -> None:
    """Nobody may have it open."""
    older = path.with_name("older.db")
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        for layout in LAYOUTS[:version]:
            db.executescript(layout)
        db.execute("ATTACH ? AS newer", [str(path)])
        for (table,) in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
        if version < TIMES:
            db.execute("UPDATE main.inbox SET taken = taken > 0")
        db.execute(f"PRAGMA user_version = {version}")
    shutil.copyfile(older, path)
    older.unlink()
