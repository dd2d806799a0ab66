"""The SQL statements of the log in PostgreSQL. Knows no connection."""

from collections.abc import Sequence
from typing import Any

from assent.agent.spending import Spending
from assent.session.log import SessionInfo

_INFO = """
SELECT id, folder, model, title, created_at, updated_at, next_seq - 1 AS events, mode, owner, client,
    (SELECT count(*) FROM approvals WHERE session = sessions.id) AS waiting, unfinished, held, archived
FROM sessions """
_NEWEST_FIRST = "ORDER BY updated_at DESC, id DESC"
SESSIONS = _INFO + _NEWEST_FIRST
SESSIONS_OF = f"{_INFO} WHERE owner = $1 {_NEWEST_FIRST}"
PAGE = f"{_INFO} WHERE owner = $1 AND archived = ANY ($2::boolean[]) {_NEWEST_FIRST} LIMIT $3 OFFSET $4"
COUNT_SESSIONS = "SELECT archived, count(*) FROM sessions WHERE owner = $1 GROUP BY archived"
FINISHED = f"{_INFO} WHERE updated_at < $1 AND NOT unfinished ORDER BY updated_at, id LIMIT $2 OFFSET $3"
INFOS = _INFO + "WHERE id = ANY ($1)"
HEADS = "SELECT id, next_seq - 1 FROM sessions WHERE $1::text[] IS NULL OR id = ANY ($1)"
EVENTS = """
SELECT s.next_seq, e.seq, e.ts, e.v, e.data FROM sessions s
LEFT JOIN LATERAL (SELECT * FROM events WHERE session = s.id AND seq > $2 ORDER BY seq LIMIT $3) e ON true
WHERE s.id = $1 ORDER BY e.seq"""
PROMPTS = """
SELECT v, data FROM events WHERE type = 'prompt.submitted' AND session IN (
    SELECT id FROM sessions WHERE folder = $1 ORDER BY updated_at DESC LIMIT $2
) ORDER BY ts DESC, seq DESC LIMIT $3"""
INBOX = "SELECT key, data FROM inbox WHERE session = $1 AND taken IS NULL ORDER BY id"
PENDING = "SELECT DISTINCT session FROM inbox WHERE taken IS NULL"
_WAITING = "SELECT session, call_id, asked_at, data FROM approvals"
_OLDEST_FIRST = "ORDER BY asked_at, session, call_id LIMIT $1 OFFSET $2"
WAITING = f"{_WAITING} {_OLDEST_FIRST}"
WAITING_OF = f"{_WAITING} WHERE owner = $3 {_OLDEST_FIRST}"
"""A query of its own: a plan that must do for all owners as well could not use their index."""
WAITING_IN = "SELECT session, call_id, asked_at, data FROM approvals WHERE session = $1"
SINCE_LAST_TURN = """
SELECT session, seq, ts, v, data FROM events WHERE session = $1 AND seq > COALESCE(
    (SELECT seq FROM events WHERE session = $1 AND type = 'turn.finished' ORDER BY seq DESC LIMIT 1), 0
) ORDER BY seq"""
WAITING_CALL = "SELECT session, call_id, asked_at, data FROM approvals WHERE session = $1 AND call_id = $2"
COUNT_WAITING = "SELECT owner, count(*) FROM approvals GROUP BY owner"
COUNT_WAITING_OF = "SELECT owner, count(*) FROM approvals WHERE owner = $1 GROUP BY owner"
EXPIRED = "SELECT DISTINCT session FROM approvals WHERE expires_at <= $1"
_SUMS = """
COALESCE(sum(requests), 0)::bigint, COALESCE(sum(tokens), 0)::bigint, COALESCE(sum(dollars), 0),
COALESCE(sum(unpriced), 0)::bigint FROM spending"""
SPENT_ON = f"SELECT {_SUMS} WHERE day = $1"
SPENT_BY_SESSION = f"SELECT session, {_SUMS} GROUP BY session"

STAMP = "SELECT digest, session FROM stamps WHERE key = $1"
KEEP_STAMP = """
INSERT INTO stamps (key, digest, session) VALUES ($1, $2, $3)
ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING digest, session"""
CREATE = """
INSERT INTO sessions (id, next_seq, folder, model, created_at, updated_at) VALUES ($1, 1, $2, $3, $4, $4)
ON CONFLICT (id) DO NOTHING RETURNING id"""
ACQUIRE = """
UPDATE sessions SET epoch = CASE $2::bigint WHEN 0 THEN epoch + 1 ELSE $2::bigint END, held = true
WHERE id = $1 AND ($2::bigint = 0 OR epoch <= $2::bigint) RETURNING epoch, next_seq, owner"""
REPLACE = "UPDATE sessions SET epoch = $2 WHERE id = $1 AND epoch <= $2 AND held AND client = $3 RETURNING true"
RELEASE = "UPDATE sessions SET held = false WHERE id = $1 AND epoch = $2"
IN_USE = """
SELECT EXISTS (SELECT FROM inbox WHERE session = $1 AND taken IS NULL)
    OR EXISTS (SELECT FROM sessions WHERE id = $1 AND next_seq - 1 <> $2)"""
FORGET = (
    "DELETE FROM events WHERE session = $1",
    "DELETE FROM inbox WHERE session = $1",
    "DELETE FROM approvals WHERE session = $1",
    "DELETE FROM stamps WHERE session = $1",
    """
    WITH gone AS (DELETE FROM spending WHERE session = $1 RETURNING day, requests, tokens, dollars, unpriced)
    INSERT INTO spending SELECT '', gone.* FROM gone ON CONFLICT (session, day) DO UPDATE SET
        requests = spending.requests + excluded.requests, tokens = spending.tokens + excluded.tokens,
        dollars = spending.dollars + excluded.dollars, unpriced = spending.unpriced + excluded.unpriced""",
    "DELETE FROM sessions WHERE id = $1",
)
"""What a deleted session has used still counts, without its name."""
SWEEP = (
    """
    DELETE FROM stamps WHERE key IN (
        SELECT key FROM stamps s WHERE at < now() - interval '7 days' AND NOT EXISTS (
            SELECT FROM inbox i WHERE i.session = s.session AND i.key = s.key AND taken IS NULL
        ) ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED
    )""",
    """
    DELETE FROM inbox WHERE id IN (
        SELECT id FROM inbox WHERE taken < now() - interval '7 days' ORDER BY taken LIMIT 1000 FOR UPDATE SKIP LOCKED
    )""",
)
"""Clients repeat requests soon, so after a week they are forgotten; but never a waiting command or its stamp."""
WRITES = "UPDATE layout SET version = version"


def info_of(row: Any) -> SessionInfo:
    return SessionInfo(**dict(row))


def spending_of_row(row: Sequence[Any]) -> Spending:
    requests, tokens, dollars, unpriced = row
    return Spending(requests, tokens, float(dollars), unpriced)
