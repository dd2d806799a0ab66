"""Opens the log that sessions are kept in. No other module knows which backend it is."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.config import data_folder
from assent.session.log import LogUnavailable, SessionLog
from assent.session.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from assent.blob_store import BlobStore
    from assent.bus.worker_directory import WorkerDirectory
    from assent.config import BlobSettings
    from assent.secrets.mask import Masker
    from assent.shared_limits import SharedLimits
    from assent.shared_records import SharedRecords

SCHEMES = ("postgresql://", "postgres://")
LOG_VARIABLE = "ASSENT_LOG"


def open_log(env: Mapping[str, str], *, read_only: bool = False, busy: bool = False) -> SessionLog:
    """Returns at once; a thread opens the file. `read_only` writes nothing at all; `busy` is for servers, where many
    sessions write at once. ASSENT_LOG may name a log elsewhere.
    """
    place = env.get(LOG_VARIABLE) or str(data_folder(env))
    return open_log_at(place, read_only=read_only, busy=busy, mask=_mask(env))


def open_log_at(
    place: str, *, read_only: bool = False, busy: bool = False, mask: Callable[[str], str] = str
) -> SessionLog:
    """`place` is a URL, or the folder of a log on disk. `mask` removes secrets from what the audit keeps."""
    if place.startswith(SCHEMES):
        return _open_postgres(place, mask)
    if "://" in place:
        raise LogUnavailable("the log must be a folder or a URL that starts with postgresql://")
    folder = Path(os.path.expanduser(place))
    if folder.is_file():
        raise LogUnavailable(f"sessions are stored in a folder or a database, but {place} is a file")
    return SqliteLog(folder, read_only=read_only, busy=busy, mask=mask)


def _open_postgres(url: str, mask: Callable[[str], str]) -> SessionLog:
    try:
        from assent.postgres.postgres_log import PostgresLog
    except ModuleNotFoundError as error:
        raise LogUnavailable("a log in PostgreSQL needs the extra `cluster`: pip install 'assent[cluster]'") from error
    from assent.app.shared_state import remember

    log = PostgresLog(url, mask=mask)
    remember(url, log.records)
    return log


def is_shared(env: Mapping[str, str]) -> bool:
    """Whether several machines use this log."""
    return env.get(LOG_VARIABLE, "").startswith(SCHEMES)


class Shared(Struct, frozen=True):
    """What all nodes share besides sessions."""

    records: "SharedRecords"
    limits: "SharedLimits"
    blobs: "BlobStore"
    """Unless the settings name another place."""


def shared_state(log: SessionLog) -> Shared | None:
    """None if the log is on this machine: then everything has a file of its own in the data folder."""
    if isinstance(log, SqliteLog):
        return None
    try:
        from assent.postgres.postgres_log import PostgresLog
    except ModuleNotFoundError:
        return None
    return Shared(log.records, log.limits, log.blobs) if isinstance(log, PostgresLog) else None


def blob_store(log: SessionLog, settings: "BlobSettings", env: Mapping[str, str]) -> "BlobStore | None":
    """Where outputs and contents are kept for all nodes; None if the files of this machine are enough. Raises
    BadSettings."""
    shared = shared_state(log)
    if shared is None or not settings.url:
        return None if shared is None else shared.blobs
    from assent.s3.s3_blobs import shared_client

    return shared_client(settings, env)


async def refresh_shared(log: SessionLog) -> None:
    """So that grants, trust and pins of all nodes are known here. Raises LogError."""
    if (shared := shared_state(log)) is not None:
        await shared.records.refresh()


def worker_directory(log: SessionLog) -> "WorkerDirectory":
    """Where the workers of those who share this log are."""
    from assent.postgres.postgres_log import PostgresLog

    assert isinstance(log, PostgresLog), "an engine needs a shared log: postgresql://…"
    return log.directory


def _mask(env: Mapping[str, str]) -> Callable[[str], str]:
    """Created when there is something to mask: many runs record nothing."""
    from functools import cache

    @cache
    def masker() -> "Masker":
        from assent.app.secret_masking import export_masker
        from assent.config import Settings

        return export_masker(env, Settings())

    return lambda text: masker().text(text) if text else text
