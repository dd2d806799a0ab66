"""A session on a server, with the interface our front ends expect: commands in, events out, and their fold."""

from collections.abc import AsyncIterator
from contextlib import aclosing

from assent.client.api import Api, ApiProblem, Link
from assent.commands import Command
from assent.events import Envelope
from assent.scheduler.call import IllegalTransition
from assent.session.state import SessionState


class RemoteClient:
    """Open it with `await RemoteClient.open(api, session)`. Closing it closes the connection, not the session."""

    def __init__(self, api: Api, session: str, me: str) -> None:
        self.me = me
        self._api = api
        self._session = session
        self._state = SessionState(session)
        self._closed = False
        self._link: Link | None = None

    @classmethod
    async def open(cls, api: Api, session: str) -> "RemoteClient":
        client = cls(api, session, (await api.me())["by"])
        await client.history()
        return client

    @property
    def state(self) -> SessionState:
        return self._state

    async def history(self) -> list[Envelope]:
        history = await self._api.history(self._session)
        self._state = SessionState(self._session)
        for envelope in history:
            self._state.apply(envelope)
        return history

    def on_link(self, changed: Link) -> None:
        self._link = changed

    def _tell(self, connected: bool) -> None:
        if self._link is not None and not self._closed:
            self._link(connected)

    async def events(self) -> AsyncIterator[Envelope]:
        async with aclosing(self._api.events(self._session, self._state.seq, self._tell)) as events:
            async for envelope in events:
                if self._apply(envelope):
                    yield envelope
                if self._closed:
                    return

    def _apply(self, envelope: Envelope) -> bool:
        try:
            self._state.apply(envelope)
        except (KeyError, IllegalTransition):
            if envelope.seq:
                raise
            return False  # a late delta for a call that has ended meanwhile
        return True

    async def send(self, command: Command, key: str | None = None) -> str:
        return await self._api.send(self._session, command, key)

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        try:
            await self._api.type_in(self._session, call_id, number, text)
        except ApiProblem as problem:
            return str(problem)
        return ""

    async def close(self) -> None:
        self._closed = True
        await self._api.close()
