"""The outputs, contents for undo and prompt files of one session in a cluster: written here, and kept for whoever
continues the session.

A file is sent before the event that needs it is recorded: contents for undo before a change begins, outputs before
a call is finished. If the store cannot be reached, the session goes on with the files that are here, and they are sent
later.
"""

import asyncio
import os
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from assent.app.output_folders import output_file
from assent.blob_store import MAX_SESSION_BYTES, BlobStore, BlobUnavailable
from assent.config import data_folder
from assent.files.mirrored_folder import MirroredFolder, Noted
from assent.files.private_folder import PrivateFolder
from assent.files.regular_file import NotPlain, read_plain
from assent.session.log import SessionLog

OUTPUTS, CONTENTS = "outputs/", "contents/"
"""How names in the store begin."""
RETRY_SECONDS = 30.0
"""After a failure, nobody waits for the store until then."""
MAX_BLOB = 1 << 26


async def forget_deleted(env: Mapping[str, str], log: SessionLog) -> int:
    """Removes the copies that this machine has of what belonged to sessions that were deleted elsewhere. Returns the
    number of these sessions. Raises LogError."""
    folders = [path for kind in ("outputs", "contents") for path in _folders_in(data_folder(env) / kind)]
    there = await log.infos({path.name for path in folders})
    gone = [path for path in folders if path.name not in there]
    for path in gone:
        await asyncio.to_thread(PrivateFolder(str(path)).remove)
    return len({path.name for path in gone})


def _folders_in(folder: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def output_key(call_id: str) -> str:
    """The name of a call's whole output in the store."""
    return OUTPUTS + output_file(call_id)


class SessionBlobs:
    def __init__(
        self,
        store: BlobStore,
        env: Mapping[str, str],
        session: str,
        *,
        limit: int = MAX_SESSION_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._session, self._limit, self._clock = store, session, limit, clock
        self._noted: Noted = deque()
        data = data_folder(env)
        self.outputs = MirroredFolder(str(data / "outputs" / session), OUTPUTS, self._noted)
        self.contents = MirroredFolder(str(data / "contents" / session), CONTENTS, self._noted)
        self._used: int | None = None
        self._retry_at = -1.0
        self._sending = asyncio.Lock()

    async def settle(self) -> None:
        """Sends the files that were noted; those that cannot be sent now stay noted."""
        if not self._noted or self._clock() < self._retry_at:
            return
        async with self._sending:
            try:
                while self._noted:
                    await self._send(*self._noted[0])
                    self._noted.popleft()
            except BlobUnavailable:
                self._retry_at = self._clock() + RETRY_SECONDS

    async def _send(self, name: str, path: str) -> None:
        try:
            data = await asyncio.to_thread(read_plain, Path(path), limit=MAX_BLOB)
        except (OSError, NotPlain):
            return  # it was deleted with its session, or is larger than anything that we keep
        if self._used is None:
            self._used = sum((await self._store.sizes(self._session)).values())
        if self._used + len(data) <= self._limit:
            await self._store.put(self._session, name, data)
            self._used += len(data)

    async def restore(self) -> None:
        """Fetches what other machines have made. What cannot be read now is missing, as if it were lost."""
        try:
            for name, size in (await self._store.sizes(self._session)).items():
                await self._restore(name, size)
        except (BlobUnavailable, OSError):
            return

    async def here(self, text: str) -> str:
        """A prompt that mentions files which a server has kept for this session, with the paths that they have here."""
        elsewhere = re.compile(rf"(?<=@)\S*/outputs/{re.escape(self._session)}/")
        if not elsewhere.search(text):
            return text
        await self.restore()
        return elsewhere.sub(lambda _: f"{self.outputs.path}/", text)

    async def _restore(self, name: str, size: int) -> None:
        folder = self.outputs if name.startswith(OUTPUTS) else self.contents
        own = os.path.basename(name)
        if not own or own.startswith(".") or folder.has(own):
            return
        if (found := await self._store.piece(self._session, name, 0, size)) is not None:
            await asyncio.to_thread(folder.restore, own, found.data)
