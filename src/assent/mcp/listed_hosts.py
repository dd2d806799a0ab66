"""Judges the connections of a server by the list in its entry. Nobody can be asked: it runs beside all calls."""

from collections.abc import Callable

from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination, is_listed, why_refused


class ListedHosts:
    """The keeper of its proxy. Each host is written to the server's log once."""

    def __init__(self, entries: tuple[str, ...], log: Callable[[str], None]) -> None:
        self._entries = entries
        self._log = log
        self._said: set[tuple[Destination, bool]] = set()

    async def judge(self, number: int, wanted: Destination) -> Access:
        why = why_refused(wanted, self._entries)
        if why is None and not is_listed(wanted, self._entries, self._entries):
            why = "it is not in `domains` of this server"
        self._say(wanted, why)
        return Access(why is None, why or "it is in `domains` of this server", self._entries)

    def _say(self, wanted: Destination, why: str | None) -> None:
        if (wanted, why is None) not in self._said:
            self._said.add((wanted, why is None))
            self._log(f"network: {wanted}" if why is None else f"network: no connection to {wanted}: {why}")

    def ended(self, number: int, wanted: Destination, end: ConnectionEnd) -> None:
        if end.problem and not end.address:
            self._log(f"network: {end.problem}")
