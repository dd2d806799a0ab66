"""Moves what a machine keeps beside its sessions to the database of a cluster: tokens, grants, trust, pins, approved
files, and the outputs and contents of sessions.

Nothing is deleted, and nothing that is there already is replaced. Push subscriptions are not moved, because they belong
to the key of one server: browsers subscribe again.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from assent.app.session_blobs import CONTENTS, MAX_BLOB, OUTPUTS
from assent.approval import Grant
from assent.blob_store import BlobStore
from assent.files.regular_file import NotPlain, read_plain
from assent.files.shared_approvals import EXECUTED
from assent.mcp.shared_pins import PIN
from assent.policy.shared_grants import GRANT, TRUST, encoded_grant
from assent.session.log import SessionLog
from assent.session.state import fold
from assent.shared_records import SharedRecords

TOKEN = "token"


class Moved(Struct):
    records: int = 0
    files: int = 0
    skipped: int = 0
    """Files that could not be read."""


async def copy_state(data: Path, log: SessionLog, records: SharedRecords, blobs: BlobStore) -> Moved:
    """`log` is the one that the sessions of this data folder were copied to. Raises LogError and BlobUnavailable."""
    moved = Moved()
    await records.refresh()
    for kind, read in _READERS.items():
        there = records.all(kind)
        for key, value in list(read(data)):
            if key not in there:
                records.put(kind, key, value)
                moved.records += 1
    await records.settled()
    for info in await log.sessions():
        await _copy_files(data, log, blobs, info.id, moved)
    return moved


async def _copy_files(data: Path, log: SessionLog, blobs: BlobStore, session: str, moved: Moved) -> None:
    changes = fold(session, await log.read(session)).changes.values()
    contents = {change.kept for change in changes if change.kept}
    wanted = [(OUTPUTS, path) for path in _files_in(data / "outputs" / session)]
    wanted += [(CONTENTS, data / "contents" / name) for name in sorted(contents)]
    there = await blobs.sizes(session) if wanted else {}
    for prefix, path in wanted:
        if prefix + path.name in there:
            continue
        try:
            content = read_plain(path, limit=MAX_BLOB)
        except (OSError, NotPlain):
            moved.skipped += 1
            continue
        await blobs.put(session, prefix + path.name, content)
        moved.files += 1


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


# --- what the files of a data folder say ---

Record = tuple[str, bytes]


def _read(path: Path) -> object:
    try:
        return msgspec.json.decode(read_plain(path, limit=100_000_000))
    except (OSError, NotPlain, msgspec.MsgspecError):
        return None


def _tokens(data: Path) -> Iterator[Record]:
    """Not those of a server's own programs, which end with it."""
    found = _read(data / "tokens.json")
    for one in msgspec.convert(found or [], list[dict[str, object]]):
        if one.get("kind") != "local":
            yield str(one["hash"])[:12], msgspec.json.encode(one)


def _grants(data: Path) -> Iterator[Record]:
    for place, grants in msgspec.convert(_read(data / "grants.json") or {}, dict[str, list[Grant]]).items():
        yield from ((grant.id, encoded_grant(place, grant)) for grant in grants)


def _mapping(name: str) -> Callable[[Path], Iterable[Record]]:
    def read(data: Path) -> Iterator[Record]:
        for key, value in msgspec.convert(_read(data / name) or {}, dict[str, dict[str, str]]).items():
            yield key, msgspec.json.encode(value)

    return read


def _executed(data: Path) -> Iterator[Record]:
    for path, digest in msgspec.convert(_read(data / "executed.json") or {}, dict[str, str]).items():
        yield path, digest.encode()


_READERS: dict[str, Callable[[Path], Iterable[Record]]] = {
    TOKEN: _tokens,
    GRANT: _grants,
    TRUST: _mapping("trust.json"),
    PIN: _mapping("mcp.json"),
    EXECUTED: _executed,
}
