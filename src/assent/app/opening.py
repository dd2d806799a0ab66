"""Opens a session to run in this process, the same way for every front end: its model, its environment, its runner.

    setup = SessionSetup(env=os.environ, settings=settings, client="my front end")
    async with await open_session(log, NewSession(folder), setup) as session:
        await session.history()
        await session.send(Submit("hello", by=session.me))
        async for envelope in session.events():
            ...

No other module knows what runs a session.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from assent.app.identity import me
from assent.app.model_access import ModelAccess
from assent.app.session_environment import SessionEnvironment, open_environment
from assent.app.storage import blob_store, is_shared, refresh_shared
from assent.approval import Mode
from assent.commands import Command, SetModel
from assent.config import BadSettings, Settings
from assent.events import Envelope
from assent.models.model_protocol import Model
from assent.parts import Effort
from assent.policy.rules import Rule
from assent.session.hub import Subscription
from assent.session.log import LogError, SessionInfo, SessionLog, WorkspaceUnavailable
from assent.session.run_options import RunOptions
from assent.session.runner import Runner, create_session
from assent.session.state import SessionState

if TYPE_CHECKING:
    from assent.app.session_telemetry import Telemetry
    from assent.mcp.manager import McpManager
    from assent.session.running_session import RunningSession

__all__ = ("LocalClient", "NewSession", "SessionSetup", "Subscription", "create_session", "open_session")

Prepare = Callable[[SessionEnvironment], Awaitable[None]]


class NewSession(Struct, frozen=True):
    """A session that is yet to be created."""

    folder: str
    mode: Mode | None = None
    """None: the mode from the settings."""
    model: str = ""
    """The model to record in the log; empty: the one from the settings."""
    effort: Effort | None = None
    """None: the effort from the settings."""


class SessionSetup(Struct, frozen=True, kw_only=True):
    """How a front end wants its sessions to run."""

    env: Mapping[str, str]
    settings: Settings
    client: str
    """Who opens the session, as recorded in the log."""
    token: int = 0
    """The fence token, if an engine issued one."""
    rules: tuple[Rule, ...] = ()
    """In addition to those of the rule files."""
    attended: bool = True
    """False: nobody can be asked, so whatever needs approval is refused."""
    watched: bool = True
    """False: nobody sees what commands print while they run, so that they need no terminal."""
    typing: bool = True
    """False: nobody can type into commands that ask for input."""
    only: str = ""
    """Carry out only the command with this key; no server is started for it."""
    holds_queue: bool = False
    """Messages that waited in the queue when the session was left are sent only when a person releases them."""
    open_model: Callable[[str], Model] | None = None
    """Creates the model from its name; None: as the settings and the environment say."""
    models: ModelAccess | None = None
    """Shared by the sessions of one front end, so that keys are looked up once."""
    prepare: Prepare | None = None
    """Called when the environment has started, before the session is taken over."""
    listeners: Sequence[Callable[[Envelope], None]] = ()
    """Receive every event as it happens, from the opening on."""
    give_way: Callable[[], Awaitable[None]] | None = None
    """Waits while something more urgent is going on; awaited before a call runs."""


class LocalClient:
    """A session that runs in this process, with its model and environment, which are closed with it."""

    def __init__(
        self,
        runner: "RunningSession",
        me: str,
        model: Model | None = None,
        past: Sequence[Envelope] = (),
        environment: SessionEnvironment | None = None,
    ) -> None:
        """`past`: the first events, if they have been read already; they are kept until `history` returns them."""
        self.me = me
        self.runner = runner
        self._model = model
        self._environment = environment
        self._events: Subscription | None = None
        self._known = 0
        self._past = past

    @property
    def state(self) -> SessionState:
        return self.runner.state

    @property
    def servers(self) -> "McpManager | None":
        return None if self._environment is None else self._environment.mcp

    async def history(self) -> list[Envelope]:
        self._unsubscribe()
        self._events = self.runner.subscribe()
        past, self._past = self._past, ()
        history = [*past, *await self.runner.read(past[-1].seq if past else 0)]
        self._known = history[-1].seq
        return history

    def on_link(self, changed: Callable[[bool], None]) -> None:
        """Never calls it: a session in this process is always connected."""

    async def events(self) -> AsyncIterator[Envelope]:
        self._events = self._events or self.runner.subscribe()
        async for envelope in self._events:
            if not 0 < envelope.seq <= self._known:  # recorded while the history was read, so it is in both
                yield envelope
        if self.runner.failure is not None:
            raise self.runner.failure

    async def send(self, command: Command, key: str | None = None) -> str:
        return await self.runner.send(command, key)

    async def type_in(self, call_id: str, number: int, text: str | None) -> str:
        return self.runner.type_in(call_id, number, text)

    def _unsubscribe(self) -> None:
        if self._events is not None:
            self._events.close()

    async def close(self) -> None:
        self._unsubscribe()
        try:
            await self.runner.close()
        finally:
            for each in (self._environment, self._model):
                if each is not None:
                    await each.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def open_session(
    log: SessionLog,
    session: SessionInfo | NewSession,
    setup: SessionSetup,
    *,
    model: str | None = None,
    keep_history: bool = False,
) -> LocalClient:
    """Takes over the session. Raises SessionBusy, ModelError, BadRule or BadSettings, and then leaves nothing open.

    `model` is a name to use instead of the session's own, from now on. `keep_history` keeps the events that are read
    here for `history`, so that they are not read twice.
    """
    if is_shared(setup.env):
        await refresh_shared(log)
    access = setup.models or ModelAccess(setup.env, setup.settings)
    name = model or session.model or (access.configured() if setup.open_model is not None else await access.choose())
    make = setup.open_model or access.open
    opened = await asyncio.to_thread(make, name)  # a key may come from a keyring
    try:
        found = await _created(log, session, name, setup.settings) if isinstance(session, NewSession) else session.id
        try:
            how = _Opened(opened, SetModel(model, me()) if model else None, access)
            return await _in_environment(log, found, session.folder, how, setup, keep_history=keep_history)
        except Exception:
            if isinstance(session, NewSession):
                await _forget(log, found)
            raise
    except BaseException:
        await opened.close()
        raise


async def open_for_server(log: SessionLog, setup: SessionSetup, session: SessionInfo) -> LocalClient:
    """The same for one of many sessions: a folder that cannot be used makes only this session unavailable."""
    if not os.path.isdir(session.folder):
        raise WorkspaceUnavailable(f"the folder of session {session.id} does not exist: {session.folder}")
    try:
        return await open_session(log, session, setup)
    except BadSettings as error:
        raise WorkspaceUnavailable(str(error)) from error


async def _created(log: SessionLog, session: NewSession, model: str, settings: Settings) -> str:
    mode, effort = session.mode or settings.approval_mode, session.effort or settings.effort
    return await create_session(log, session.folder, model, mode, settings.gate, effort=effort, by=me())


async def _forget(log: SessionLog, session: str) -> None:
    """A session that could not be opened after it was created is of no use to anyone."""
    with suppress(LogError):
        await log.delete(session, seen=1, by=me())


class _Opened(Struct, frozen=True):
    """The model that a session is opened with."""

    model: Model
    chosen: SetModel | None
    """Set if a person chose it instead of the session's own."""
    access: ModelAccess


async def _in_environment(
    log: SessionLog,
    session: str,
    folder: str,
    opened: _Opened,
    setup: SessionSetup,
    *,
    keep_history: bool,
) -> LocalClient:
    environment = await _start_environment(log, session, folder, opened, setup)
    try:
        if setup.prepare is not None:
            await setup.prepare(environment)
        telemetry = _telemetry(setup.env)
        past: Sequence[Envelope] = await log.read(session) if keep_history or telemetry else ()
        exported = () if telemetry is None else (telemetry.listener(session, past, setup.env, setup.settings),)
        options = replace(
            _options(environment, setup), chosen_model=opened.chosen, listeners=(*setup.listeners, *exported)
        )
        runner = await Runner.open(log, session, opened.model, environment.registry, options, past)
    except BaseException:
        await environment.close()
        raise
    return LocalClient(runner, me(), opened.model, past if keep_history else (), environment)


async def _start_environment(
    log: SessionLog, session: str, folder: str, opened: _Opened, setup: SessionSetup
) -> SessionEnvironment:
    model, watched, typing = opened.model, setup.watched, setup.typing
    blobs = blob_store(log, setup.settings.blobs, setup.env) if is_shared(setup.env) else None
    environment = open_environment(
        setup.env, folder, setup.settings, session, model, opened.access, watched=watched, typing=typing, blobs=blobs
    )
    if environment.kept is not None:
        await environment.kept.restore()
    if not setup.only:
        environment.start()
    return environment


def _telemetry(env: Mapping[str, str]) -> "Telemetry | None":
    if not any(name.startswith("OTEL_") for name in env):
        return None
    from assent.app.session_telemetry import telemetry

    return telemetry(env)


def _options(environment: SessionEnvironment, setup: SessionSetup) -> RunOptions:
    return replace(
        environment.options(setup.settings, setup.client, setup.rules),
        token=setup.token,
        attended=setup.attended,
        only=setup.only,
        holds_queue=setup.holds_queue,
        give_way=setup.give_way,
    )
