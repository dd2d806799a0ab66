"""Sets up the engine that runs the sessions of a server. No other module knows which engine it is."""

import os
from collections.abc import Mapping

from msgspec import Struct

from assent.app.model_access import ModelAccess
from assent.app.opening import SessionSetup, open_session
from assent.config import BadSettings, Settings
from assent.session.engine import (
    CANNOT_OPEN,
    LINGER_SECONDS,
    MAX_RESTING,
    Activity,
    GiveWay,
    Listener,
    LocalEngine,
    Opened,
    SessionEngine,
)
from assent.session.log import LogUnavailable, SessionInfo, SessionLog

__all__ = ("CANNOT_OPEN", "LINGER_SECONDS", "MAX_RESTING", "Activity", "EngineSetup", "SessionEngine", "make_engine")


class EngineSetup(Struct, frozen=True, kw_only=True):
    settings: Settings
    env: Mapping[str, str]
    models: ModelAccess
    client: str
    """Who opens the sessions; those opened under this name are ours after a restart."""
    linger: float = LINGER_SECONDS
    max_resting: int = MAX_RESTING


def make_engine(log: SessionLog, setup: EngineSetup, listener: Listener, give_way: GiveWay) -> SessionEngine:
    """`listener` receives every event of every session that runs in this process."""
    how = SessionSetup(
        env=setup.env,
        settings=setup.settings,
        client=setup.client,
        models=setup.models,
        listener=listener,
        give_way=give_way,
    )

    async def open_one(info: SessionInfo) -> Opened:
        return await _open(log, info, how)

    return LocalEngine(log, open_one, setup.client, linger=setup.linger, max_resting=setup.max_resting)


async def _open(log: SessionLog, info: SessionInfo, how: SessionSetup) -> Opened:
    if not os.path.isdir(info.folder):
        raise LogUnavailable(f"the folder of session {info.id} does not exist: {info.folder}")
    try:
        client = await open_session(log, info, how)
    except BadSettings as error:
        raise LogUnavailable(str(error)) from error
    return Opened(client.runner, client.close, client.servers)
