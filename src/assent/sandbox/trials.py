"""Runs a command on a copy of the workspace that exists only for it: an overlay, in the sandbox, without network.

    trials = Trials(confinement, store, root)
    if not await trials.problem():
        started = await trials.start(name, cwd)

An overlay costs nothing, but refuses to rename folders of the workspace. With `copied`, and where no overlay can be
mounted, everything is copied first. It says how to start the command and where its changes are. It runs nothing itself,
except a test at the first use and the program that copies.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from assent import failpoints
from assent.files.copied_tree import Stamps, stamps_of, why_not_copied
from assent.files.trial_store import TrialFolder, TrialStore
from assent.process import copy_tree, overlay_mount
from assent.process.mount_gate import opened_later, opened_paths
from assent.process.run_program import ProcessLimits, run
from assent.process.spawn import Launcher
from assent.sandbox.confinement import Confinement, Unconfined
from assent.subpath import is_below

_TEST = "test"
_LIMITS = ProcessLimits(total=20.0)
_COPY_LIMITS = ProcessLimits(total=300.0)
_OCTAL = re.compile(r"\\([0-7]{3})")


class StartedTrial(Struct, frozen=True):
    launcher: Launcher
    folder: TrialFolder
    since: int
    """When it started, in nanoseconds by the clock of the file system."""
    copied: Stamps | None = None
    """What the full copy was before the command; None for an overlay."""


class Trials:
    """The trials of one workspace."""

    def __init__(self, confinement: Confinement, store: TrialStore, root: str) -> None:
        self.store = store
        self.root = os.path.realpath(root)
        self._confinement = confinement
        self._tested: asyncio.Task[str] | None = None
        self.overlays = True
        """False: everything is copied for each trial."""

    async def problem(self) -> str:
        """Why nothing can be tried here; empty if it can. Tested once."""
        if self._tested is None or self._tested.cancelled():
            self._tested = asyncio.ensure_future(self._test())
        return await asyncio.shield(self._tested)

    async def _test(self) -> str:
        store = os.path.realpath(self.store.path)
        if problem := await self._confinement.problem():
            return problem
        if is_below(store, [self.root]):
            return f"Assent keeps its own data in the workspace ({store})"
        problem = await self._test_mount(copied=False)
        if problem and not await self._test_mount(copied=True):
            self.overlays, problem = False, await self.copy_problem()
        return problem

    async def copy_problem(self) -> str:
        """Why there can be no full copy of the workspace; empty if there can. It may grow at any time."""
        return await asyncio.to_thread(why_not_copied, self.root, _existing(self.store.path))

    async def _test_mount(self, *, copied: bool) -> str:
        places = (os.stat(self.root).st_dev, os.stat(_existing(self.store.path)).st_dev, copied)
        if not copied and (problem := _unsuitable(self.root)):
            return problem
        if places in _WORKS:
            return ""
        problem = await self._run_once(copied)
        if not problem:
            _WORKS.add(places)
        return problem

    async def _run_once(self, copied: bool) -> str:
        name = f"{_TEST}-{os.getpid()}-{id(self)}"
        folder = self.store.folder(name)
        try:
            folder.make()
            launcher = None if copied else await self._launcher(folder, self.root, copied)
            argv = [*self._mounted(folder, copied), "0", "/bin/true"] if copied else ["/bin/true"]
            finished = await run(argv, cwd="/", launcher=launcher, limits=_LIMITS)
            return finished.output.text().strip() if finished.never_ran or finished.code != 0 else ""
        except (Unconfined, OSError) as error:
            return str(error)
        finally:
            folder.release()
            await asyncio.to_thread(self.store.remove, name)

    async def start(self, name: str, cwd: str, *, copied: bool = False) -> StartedTrial:
        """An earlier trial of this name is discarded. Raises Unconfined or OSError."""
        folder = self.store.folder(name)
        copied = copied or not self.overlays
        await asyncio.to_thread(self._clear, name)
        since = folder.make()
        try:
            failpoints.hit("trial prepared")
            stamps = await self._copy(folder) if copied else None
            failpoints.hit("trial copied" if copied else "trial overlaid")
            return StartedTrial(await self._launcher(folder, cwd, copied), folder, since, stamps)
        except BaseException:
            folder.release()
            self.store.remove(name)
            raise

    async def _launcher(self, folder: TrialFolder, cwd: str, copied: bool) -> Launcher:
        inner = await self._confinement.launcher_for_trial(cwd)
        folders = [os.fsdecode(path) for path in opened_paths(inner.mounts)]
        words = (*self._mounted(folder, copied), str(len(folders)), *folders, *inner.argv)
        return replace(inner, argv=words, mounts=opened_later(inner.mounts))

    def _mounted(self, folder: TrialFolder, copied: bool) -> tuple[str, ...]:
        work = overlay_mount.COPY if copied else folder.work
        return (*_script(overlay_mount.__file__), self.root, folder.upper, work)

    async def _copy(self, folder: TrialFolder) -> Stamps:
        """A program copies, so that it can be cancelled."""
        if problem := await self.copy_problem():
            raise OSError(f"no copy of the workspace can be made: {problem}")
        argv = [*_script(copy_tree.__file__), self.root, folder.upper]
        finished = await run(argv, cwd="/", limits=_COPY_LIMITS)
        if finished.ended != "exited" or finished.code != 0:
            said = finished.output.text().strip()
            raise OSError(f"the workspace could not be copied: {said or finished.ended}")
        return await asyncio.to_thread(stamps_of, folder.upper)

    def _clear(self, name: str) -> None:
        self.store.sweep()
        self.store.remove(name)


_WORKS = set[tuple[int, int, bool]]()
"""For which file systems, of the workspace and of the changes, this process has seen an overlay or a copy work."""


def _script(path: str) -> tuple[str, ...]:
    """To run one of our own programs, which need no packages."""
    return (sys.executable, "-I", "-S", os.path.abspath(path))


def _existing(path: str) -> str:
    """The nearest existing folder above it, which is on the same file system."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _unsuitable(root: str) -> str:
    """Why the workspace cannot be the lower part of an overlay."""
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
