"""For doubles of `Live`: a call that has no business with the network, and into which nobody types."""

from assent.parts import InputWanted, JsonObject
from assent.tools.tool import TypeIn
from assent.web.connection_verdict import Access, ConnectionEnd
from assent.web.destinations import Destination


class NoNetwork:
    async def offer(self, wider: JsonObject) -> str | None:
        return None

    async def may_connect(self, number: int, wanted: Destination, entries: tuple[str, ...]) -> Access:
        raise AssertionError(f"nobody expected a connection to {wanted}")

    def asks(self, wanted: InputWanted | None, type_in: TypeIn) -> None: ...

    def connection_ended(self, number: int, end: ConnectionEnd) -> None:
        raise AssertionError("there was no connection")
