"""Sets up the engine that runs the sessions of a server. No other module knows which engine it is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
from assent.session.log import LogUnavailable, SessionInfo, SessionLog
from assent.session.server_clients import SERVE

if TYPE_CHECKING:
    from assent.temporal.temporal_engine import TemporalEngine

__all__ = ("CANNOT_OPEN", "LINGER_SECONDS", "MAX_RESTING", "Activity", "EngineSetup", "SessionEngine", "make_engine")


Workspaces = tuple[tuple[str, str], ...]
"""Folders, and the host that has everything below."""


class EngineSetup(Struct, frozen=True, kw_only=True):
    env: Mapping[str, str]
    models: ModelAccess
    """Also has the settings, which may change while the server runs."""
    linger: float = LINGER_SECONDS
    max_resting: int = MAX_RESTING
    engine: str = ""
    """The URL of an engine whose workers run the sessions; empty: they run in this process."""
    workspaces: Workspaces = ()


def make_engine(log: SessionLog, setup: EngineSetup, listeners: Sequence[Listener], give_way: GiveWay) -> SessionEngine:
    """The listeners receive every event of every session that runs in this process."""
    if setup.engine:
        return make_remote_engine(log, setup.engine, setup.workspaces)

    async def opened(session: SessionInfo) -> LocalClient:
        how = SessionSetup(
            env=setup.env,
            settings=setup.models.settings,
            client=SERVE,
            models=setup.models,
            listeners=listeners,
            give_way=give_way,
        )
        return await open_for_server(log, how, session)

    return LocalEngine(log, opened, SERVE, linger=setup.linger, max_resting=setup.max_resting)


def make_remote_engine(log: SessionLog, url: str, workspaces: Workspaces) -> "TemporalEngine":
    """Wakes sessions that workers run; raises LogUnavailable if the URL is not valid, or the extra is not installed."""
    try:
        from assent.temporal.temporal_address import parse_address
        from assent.temporal.temporal_engine import TemporalEngine
    except ModuleNotFoundError as error:
        raise LogUnavailable(
            "the engine on Temporal needs the extra `cluster`: pip install 'assent[cluster]'"
        ) from error
    return TemporalEngine(log, parse_address(url), lambda folder: host_of(folder, workspaces))


def host_of(folder: str, workspaces: Workspaces) -> str:
    """The host named for the nearest folder above; empty if every worker has it."""
    found = [
        (len(root), host) for root, host in workspaces if folder == root or folder.startswith(root.rstrip("/") + "/")
    ]
    return max(found, default=(0, ""))[1]
