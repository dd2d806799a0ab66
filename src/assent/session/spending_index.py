"""What the model has used, by session and day: rows of the index that outlive the sessions they count.

A deleted session leaves its share of the day behind, without its name, so that daily limits still apply.
"""

import sqlite3
from collections.abc import Callable

from assent.agent.spending import Spending
from assent.events import ChatCompressed, ModelReplied, SessionRenamed

SPENDING_TABLE = """
CREATE TABLE spending (
    session TEXT NOT NULL, day TEXT NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL,
    dollars REAL NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (session, day)
) WITHOUT ROWID"""
SPENDING_TYPES = tuple(str(kind.__struct_config__.tag) for kind in (ModelReplied, ChatCompressed, SessionRenamed))
"""The types of the events that cost something, as the log names them."""
_ADD = (
    "ON CONFLICT (session, day) DO UPDATE SET requests = requests + excluded.requests, "
    "tokens = tokens + excluded.tokens, dollars = dollars + excluded.dollars, unpriced = unpriced + excluded.unpriced"
)
_SUMS = "COALESCE(SUM(requests), 0), COALESCE(SUM(tokens), 0), COALESCE(SUM(dollars), 0.0), COALESCE(SUM(unpriced), 0)"


def add_spending(db: sqlite3.Connection, session: str, day: str, spent: Spending) -> None:
    row = (session, day, spent.requests, spent.tokens, spent.dollars, spent.unpriced)
    db.execute(f"INSERT INTO spending VALUES (?, ?, ?, ?, ?, ?) {_ADD}", row)


def forget_session(db: sqlite3.Connection, session: str) -> None:
    rows = "SELECT '', day, requests, tokens, dollars, unpriced FROM spending WHERE session = ?"
    db.execute(f"INSERT INTO spending {rows} {_ADD}", (session,))
    db.execute("DELETE FROM spending WHERE session = ?", (session,))


def spent_on(day: str) -> Callable[[sqlite3.Connection], Spending]:
    return lambda db: Spending(*db.execute(f"SELECT {_SUMS} FROM spending WHERE day = ?", (day,)).fetchone())


def spent_by_session(db: sqlite3.Connection) -> dict[str, Spending]:
    found = db.execute(f"SELECT session, {_SUMS} FROM spending GROUP BY session")
    return {session: Spending(*sums) for session, *sums in found}
