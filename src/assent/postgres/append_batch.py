"""One statement that appends the events of many sessions, each under its own fence, and updates the index with them.

A session whose fence is lost, or whose events do not follow those that are stored, is left out as a whole: neither its
events nor its part of the index are written. Knows SQL, but no connection.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assent.agent.spending import Spending
from assent.events import VERSION, Envelope, encode_event, type_of
from assent.session.log import Fence, Waiting, keys_taken
from assent.session.projection import IndexChanges, changed_at, encode_approval, project

_COLUMNS = ("mode", "owner", "client", "model", "title")
APPEND = """
WITH batch AS (
    SELECT * FROM unnest(
        $1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[],
        $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::boolean[],
        $13::boolean[]
    ) AS b (id, token, first, next, ts, mode, owner, client, model, title, first_title, unfinished, archived)
), moved AS (
    UPDATE sessions s SET
        next_seq = b.next, updated_at = COALESCE(b.ts, s.updated_at),
        mode = COALESCE(b.mode, s.mode), owner = COALESCE(b.owner, s.owner),
        client = COALESCE(b.client, s.client), model = COALESCE(b.model, s.model),
        title = COALESCE(b.title, CASE WHEN s.title = '' THEN b.first_title ELSE s.title END),
        unfinished = COALESCE(b.unfinished, s.unfinished), archived = COALESCE(b.archived, s.archived)
    FROM batch b WHERE s.id = b.id AND s.epoch = b.token AND s.next_seq = b.first
    RETURNING s.id, s.owner
), stored AS (
    INSERT INTO events (session, seq, ts, type, v, data)
    SELECT e.* FROM unnest($14::text[], $15::bigint[], $16::float8[], $17::text[], $18::integer[], $19::bytea[])
        AS e (session, seq, ts, type, v, data) JOIN moved ON moved.id = e.session
), taken AS (
    UPDATE inbox i SET taken = now()
    FROM unnest($20::text[], $21::text[]) AS k (session, key) JOIN moved ON moved.id = k.session
    WHERE i.session = k.session AND i.key = k.key
), settled AS (
    DELETE FROM approvals a USING unnest($22::text[], $23::text[]) AS k (session, call_id), moved
    WHERE moved.id = k.session AND a.session = k.session AND a.call_id = k.call_id
), asked AS (
    INSERT INTO approvals (session, call_id, asked_at, expires_at, data, owner)
    SELECT q.*, moved.owner FROM unnest($24::text[], $25::text[], $26::float8[], $27::float8[], $28::bytea[])
        AS q (session, call_id, asked_at, expires_at, data) JOIN moved ON moved.id = q.session
    ON CONFLICT (session, call_id) DO UPDATE
        SET asked_at = excluded.asked_at, expires_at = excluded.expires_at, data = excluded.data
), spent AS (
    INSERT INTO spending (session, day, requests, tokens, dollars, unpriced)
    SELECT u.* FROM unnest($29::text[], $30::text[], $31::bigint[], $32::bigint[], $33::float8[], $34::bigint[])
        AS u (session, day, requests, tokens, dollars, unpriced) JOIN moved ON moved.id = u.session
    ON CONFLICT (session, day) DO UPDATE SET
        requests = spending.requests + excluded.requests, tokens = spending.tokens + excluded.tokens,
        dollars = spending.dollars + excluded.dollars, unpriced = spending.unpriced + excluded.unpriced
)
SELECT array_agg(id), pg_notify($35, $36) FROM moved"""


class SessionAppend(Struct):
    """Consecutive events of one session, under one fence."""

    fence: Fence
    envelopes: list[Envelope]

    @property
    def next_seq(self) -> int:
        return self.envelopes[-1].seq + 1


def append_arguments(appends: Sequence[SessionAppend]) -> list[list[object]]:
    """The arguments of APPEND, without the last two: the channel, and what is announced there."""
    changes = {one.fence.session: project(one.envelopes) for one in appends}
    return [
        *_sessions(appends, changes),
        *transposed(6, (_event(envelope) for one in appends for envelope in one.envelopes)),
        *transposed(2, ((one.fence.session, plain(key)) for one in appends for key in keys_taken(one.envelopes))),
        *transposed(2, ((id, plain(call)) for id, change in changes.items() for call in sorted(change.settled))),
        *transposed(5, (_waiting(one) for change in changes.values() for one in change.asked.values())),
        *transposed(6, (_spent(id, *each) for id, change in changes.items() for each in change.spent.items())),
    ]


def _sessions(appends: Sequence[SessionAppend], changes: Mapping[str, IndexChanges]) -> list[list[object]]:
    rows = [
        (
            *(one.fence.session, one.fence.token, one.envelopes[0].seq, one.next_seq, changed_at(one.envelopes)),
            *_columns(changes[one.fence.session]),
        )
        for one in appends
    ]
    return transposed(13, rows)


def _columns(change: IndexChanges) -> list[object]:
    texts: list[object] = [
        None if (value := change.columns.get(name)) is None else plain(str(value)) for name in _COLUMNS
    ]
    return [*texts, plain(change.first_title), change.columns.get("unfinished"), change.columns.get("archived")]


def _event(envelope: Envelope) -> tuple[object, ...]:
    event = envelope.event
    return (envelope.session, envelope.seq, envelope.ts, type_of(event), VERSION, encode_event(event))


def _waiting(one: Waiting) -> tuple[object, ...]:
    return (one.session, plain(one.call_id), one.asked_at, one.approval.expires_at, encode_approval(one.approval))


def _spent(session: str, day: str, spent: Spending) -> tuple[object, ...]:
    return (session, day, spent.requests, spent.tokens, spent.dollars, spent.unpriced)


def transposed(width: int, rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """One list per column, as `unnest` expects them."""
    columns: list[list[object]] = [[] for _ in range(width)]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return columns


def plain(text: str) -> str:
    """PostgreSQL refuses NUL in texts. The event itself is stored as bytes, and keeps it."""
    return text.replace("\0", "\ufffd")
