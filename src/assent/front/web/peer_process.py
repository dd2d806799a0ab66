"""The program at the other end of a connection. Looked up at the first request that changes something, then cached."""

import asyncio

from assent.app import local_peers


class PeerProcess:
    """`client` and `server` are the ends of the connection itself, not what a header claims."""

    def __init__(self, client: local_peers.Address | None, server: tuple[str, int | None] | None) -> None:
        self._client, self._server = client, server
        self._looking: asyncio.Task[str | None] | None = None

    async def why_refused(self) -> str | None:
        """Why it may not change anything; None if it may."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> str | None:
        """In a thread: there may be thousands of processes."""
        match self._client, self._server:
            case (str(), int()) as client, (str(), int()) as server:
                return await asyncio.to_thread(local_peers.why_refused, client, server)
            case _:
                return local_peers.GONE
