"""Limits for all nodes together, as token buckets in a table that needs no disk: a crash of the server empties it.

The time is the database's own, so the clocks of the nodes do not matter.
"""

from assent.postgres.append_batch import plain
from assent.postgres.postgres_connections import Connections

_REFILLED = "LEAST($4, l.spare + GREATEST(0, extract(epoch FROM statement_timestamp() - l.at))::float8 * $3)"
_TAKE = f"""
INSERT INTO limits AS l (kind, who, spare, granted, at)
VALUES ($1, $2, $4 - LEAST($5, floor($4)), LEAST($5, floor($4)), statement_timestamp())
ON CONFLICT (kind, who) DO UPDATE SET
    spare = {_REFILLED} - LEAST($5, floor({_REFILLED})), granted = LEAST($5, floor({_REFILLED})),
    at = GREATEST(l.at, statement_timestamp())
RETURNING granted::bigint"""
FORGET_OLD = "DELETE FROM limits WHERE at < now() - interval '1 hour'"
"""By then, they have as much as at first."""


class PostgresLimits:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def take(self, kind: str, who: str, *, per_second: float, burst: float, wanted: int = 1) -> int:
        row = (kind, plain(who), float(per_second), float(burst), float(wanted))
        async with self._connections.reading() as connection:  # not repeated: it would be taken twice
            return await connection.fetchval(_TAKE, *row)
