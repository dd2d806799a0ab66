"""A table of where workers listen, for the servers that share the log."""

from assent.bus.worker_directory import FORGET_SECONDS, WorkerAddress
from assent.postgres.postgres_connections import Connections

_ANNOUNCE = """
INSERT INTO workers (host, port, secret) VALUES ($1, $2, $3)
ON CONFLICT (host, port) DO UPDATE SET secret = excluded.secret, seen = now()"""
_WITHDRAW = "DELETE FROM workers WHERE host = $1 AND port = $2 AND secret = $3"
_WORKERS = "SELECT host, port, secret FROM workers WHERE seen > now() - make_interval(secs => $1)"
_SWEEP = "DELETE FROM workers WHERE seen < now() - interval '1 day'"


class PostgresDirectory:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def announce(self, worker: WorkerAddress) -> None:
        row = (worker.host, worker.port, worker.secret)
        await self._connections.retried(lambda db: db.execute(_ANNOUNCE, *row))

    async def withdraw(self, worker: WorkerAddress) -> None:
        row = (worker.host, worker.port, worker.secret)
        await self._connections.retried(lambda db: db.execute(_WITHDRAW, *row))
        await self._connections.retried(lambda db: db.execute(_SWEEP))

    async def workers(self) -> list[WorkerAddress]:
        rows = await self._connections.retried(lambda db: db.fetch(_WORKERS, FORGET_SECONDS))
        return [WorkerAddress(*row) for row in rows]
