"""Keeps the full outputs of a session that were too long for the model, and forks a session together with them."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from assent.config import data_folder
from assent.files.private_folder import PrivateFolder, harmless

if TYPE_CHECKING:
    from assent.blob_store import BlobPiece, BlobStore
    from assent.files.private_folder import Piece
    from assent.session.log import SessionLog, Stamp


class WholeText(Struct, frozen=True):
    text: str
    is_cut: bool = False
    """There was more: the file has only the beginning."""


def output_folder(env: Mapping[str, str], session: str) -> PrivateFolder:
    return PrivateFolder(str(data_folder(env) / "outputs" / session))


def saved_output(env: Mapping[str, str], session: str, call_id: str, offset: int, limit: int) -> "Piece | None":
    """A byte range of the full output of a call; None if it was not kept."""
    from assent.tools.support.whole_output import output_name

    return output_folder(env, session).piece(output_name(call_id), offset, limit)


def whole_output_path(env: Mapping[str, str], session: str, call_id: str) -> str:
    """The file with the full output of a call; empty if it was not kept."""
    path = os.path.join(data_folder(env), "outputs", session, output_file(call_id))
    return path if os.path.isfile(path) else ""


def whole_output(env: Mapping[str, str], session: str, call_id: str) -> WholeText | None:
    """All of it, with its secrets masked; None if it was not kept."""
    from assent.tools.support.whole_output import MAX_BYTES

    piece = saved_output(env, session, call_id, 0, MAX_BYTES)
    return None if piece is None else WholeText(piece.data.decode(errors="replace"), piece.total >= MAX_BYTES)


def read_kept(env: Mapping[str, str], session: str, path: str) -> str | None:
    """A text file that is kept for a session; None if it is not in its folder. Raises OSError if it cannot be read."""
    from assent.app.folder_view import as_text
    from assent.tools.support.whole_output import MAX_BYTES

    folder, name = output_folder(env, session), os.path.basename(path)
    if os.path.dirname(path) != folder.path or name != harmless(name):
        return None
    piece = folder.piece(name, 0, MAX_BYTES)
    if piece is None:
        raise FileNotFoundError(f"{path} is gone.")
    return as_text(piece.data, path)


def output_file(call_id: str) -> str:
    """The name of the file with the whole output of a call."""
    from assent.tools.support.whole_output import output_name

    return harmless(output_name(call_id))


async def shared_output(store: "BlobStore", session: str, call_id: str, offset: int, limit: int) -> "BlobPiece | None":
    """The same, if another node has made it. Raises BlobUnavailable."""
    from assent.app.session_blobs import output_key

    return await store.piece(session, output_key(call_id), offset, limit)


async def forget_outputs(env: Mapping[str, str], session: str, store: "BlobStore | None" = None) -> None:
    """Those of a deleted session. What cannot be removed from a remote store now stays there."""
    await asyncio.to_thread(output_folder(env, session).remove)
    if store is not None:
        with suppress(OSError):
            await store.remove(session)
        await asyncio.to_thread(PrivateFolder(str(data_folder(env) / "contents" / session)).remove)


async def fork_with_outputs(
    env: Mapping[str, str],
    log: "SessionLog",
    session: str,
    stamp: "Stamp | None" = None,
    *,
    by: str = "",
    store: "BlobStore | None" = None,
) -> str:
    """The copy has the outputs of its calls in a folder of its own, so they outlive the original session. Calls that
    are running in the original, or run there later under the same id, are not the copy's."""
    from assent.events import CallFinished
    from assent.session.fork import fork_session
    from assent.tools.support.whole_output import output_name

    copy = await fork_session(log, session, stamp, by)
    events = (envelope.event for envelope in await log.read(copy))
    names = [output_name(event.call_id) for event in events if isinstance(event, CallFinished)]
    await asyncio.to_thread(output_folder(env, copy).share, output_folder(env, session), names)
    store = store or _shared_store(env, log)
    if store is not None:
        await _copy_shared(store, session, copy, names)
    return copy


def _shared_store(env: Mapping[str, str], log: "SessionLog") -> "BlobStore | None":
    from assent.app.storage import blob_store, is_shared
    from assent.config import load_settings

    return blob_store(log, load_settings(env).blobs, env) if is_shared(env) else None


async def _copy_shared(store: "BlobStore", session: str, copy: str, outputs: list[str]) -> None:
    """Without them, the copy shows what the log has, and its older changes cannot be undone."""
    from assent.app.session_blobs import CONTENTS, OUTPUTS

    with suppress(OSError):
        wanted = {OUTPUTS + harmless(name) for name in outputs}
        there = await store.sizes(session)
        await store.copy(session, copy, [name for name in there if name in wanted or name.startswith(CONTENTS)])
