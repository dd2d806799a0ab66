"""The program behind a connection. Looked up with the first request that would change something, and then known."""

import asyncio

from assent.app import local_peers


class PeerProcess:
    """`client` and `server` are the two ends as the connection has them, not as a header tells them."""

    def __init__(self, client: local_peers.Address | None, server: tuple[str, int | None] | None) -> None:
        self._client, self._server = client, server
        self._looking: asyncio.Task[str | None] | None = None

    async def why_refused(self) -> str | None:
        """Why it may change nothing; None when it may."""
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
