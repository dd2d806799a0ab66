"""Sets up the engine that runs the sessions of a server. No other module knows which engine it is."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from assent.app.model_access import ModelAccess
from assent.app.opening import LocalClient, SessionSetup, open_for_server
from assent.session.engine import (
    CANNOT_OPEN,
    LINGER_SECONDS,
    MAX_RESTING,
    Activity,
    GiveWay,
    Listener,
    LocalEngine,
    SessionEngine,
)
from assent.session.log import SessionInfo, SessionLog

__all__ = ("CANNOT_OPEN", "LINGER_SECONDS", "MAX_RESTING", "Activity", "EngineSetup", "SessionEngine", "make_engine")


class EngineSetup(Struct, frozen=True, kw_only=True):
    env: Mapping[str, str]
    models: ModelAccess
    """Also has the settings, which may change while the server runs."""
    client: str
    """Who opens the sessions; those opened under this name are ours after a restart."""
    linger: float = LINGER_SECONDS
    max_resting: int = MAX_RESTING


def make_engine(log: SessionLog, setup: EngineSetup, listeners: Sequence[Listener], give_way: GiveWay) -> SessionEngine:
    """The listeners receive every event of every session that runs in this process."""

    async def opened(session: SessionInfo) -> LocalClient:
        how = SessionSetup(
            env=setup.env,
            settings=setup.models.settings,
            client=setup.client,
            models=setup.models,
            listeners=listeners,
            give_way=give_way,
        )
        return await open_for_server(log, how, session)

    return LocalEngine(log, opened, setup.client, linger=setup.linger, max_resting=setup.max_resting)
