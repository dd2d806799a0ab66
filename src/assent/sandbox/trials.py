"""Runs a command on a copy of the workspace that exists only for it: an overlay, in the sandbox, without network.

    trials = Trials(confinement, store, root)
    if not await trials.problem():
        started = await trials.start(name, cwd)

It says what starts the command and where its changes are. It runs nothing itself, except for a test at the first use.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterator

from msgspec import Struct

from assent.files.trial_store import TrialFolder, TrialStore
from assent.process import overlay_mount
from assent.process.run_program import ProcessLimits, run
from assent.process.spawn import Launcher
from assent.sandbox.confinement import Confinement, Unconfined
from assent.subpath import is_below

_TEST = "test"
_LIMITS = ProcessLimits(total=20.0)
_OCTAL = re.compile(r"\\([0-7]{3})")


class StartedTrial(Struct, frozen=True):
    launcher: Launcher
    folder: TrialFolder
    since: int
    """When it started, in nanoseconds by the clock of the file system."""


class Trials:
    """The trials of one workspace."""

    def __init__(self, confinement: Confinement, store: TrialStore, root: str) -> None:
        self.store = store
        self.root = os.path.realpath(root)
        self._confinement = confinement
        self._tested: asyncio.Task[str] | None = None

    async def problem(self) -> str:
        """Why nothing can be tried here; empty if it can. Tested once."""
        if self._tested is None or self._tested.cancelled():
            self._tested = asyncio.ensure_future(self._test())
        return await asyncio.shield(self._tested)

    async def _test(self) -> str:
        if problem := await self._confinement.problem():
            return problem
        if problem := _unsuitable(self.root, os.path.realpath(self.store.path)):
            return problem
        places = (os.stat(self.root).st_dev, _device_of(self.store.path))
        if places in _WORKS:
            return ""
        problem = await self._run_once()
        if not problem:
            _WORKS.add(places)
        return problem

    async def _run_once(self) -> str:
        name = f"{_TEST}-{os.getpid()}-{id(self)}"
        try:
            started = await self.start(name, self.root)
            finished = await run(["/bin/sh", "-c", ":"], cwd=self.root, launcher=started.launcher, limits=_LIMITS)
            return finished.output.text().strip() if finished.never_ran else ""
        except (Unconfined, OSError) as error:
            return str(error)
        finally:
            await asyncio.to_thread(self.store.remove, name)

    async def start(self, name: str, cwd: str) -> StartedTrial:
        """An earlier trial of this name is discarded. Raises Unconfined or OSError."""
        folder = self.store.folder(name)
        await asyncio.to_thread(self._clear, name)
        since = folder.make()
        try:
            inner = await self._confinement.launcher_for_trial(cwd)
        except BaseException:
            folder.release()
            self.store.remove(name)
            raise
        script = os.path.abspath(overlay_mount.__file__)
        words = (sys.executable, "-I", "-S", script, self.root, folder.upper, folder.work, *inner.argv)
        return StartedTrial(Launcher(words, inner.inputs), folder, since)

    def _clear(self, name: str) -> None:
        self.store.sweep()
        self.store.remove(name)


_WORKS = set[tuple[int, int]]()
"""For which file systems, of the workspace and of the changes, this process has seen an overlay work."""


def _device_of(path: str) -> int:
    """The file system on which the path is, or will be."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.stat(path).st_dev


def _unsuitable(root: str, store: str) -> str:
    """Why the workspace cannot be the lower part of an overlay."""
    if is_below(store, [root]):
        return f"Assent keeps its own data in the workspace ({store})"
    mounted = next((path for path in _mount_points() if path != root and is_below(path, [root])), None)
    return f"{mounted} is another file system, which an overlay does not contain" if mounted else ""


def _mount_points() -> Iterator[str]:
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            fields = [line.split(" ") for line in file]
    except OSError:
        return
    for one in fields:
        yield _OCTAL.sub(lambda found: chr(int(found[1], 8)), one[4])
