"""Confines the programs of one workspace: chooses the mechanism that works here, and makes a launcher for a profile.

    confinement = Confinement(roots, own_folders, masks, env)
    confined = await confinement.confine("workspace", cwd)

The first use tests whether the sandbox works. If it does not, `confine` raises, and the caller decides what to do.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assent.config import data_folder, settings_file
from assent.plan import ExecutedFile, SandboxName
from assent.process.approved_launch import ApprovedContent, approved_contents
from assent.process.spawn import Launcher
from assent.proxy.sandbox_port import SandboxPort, proxy_environment
from assent.sandbox.boxes import Box, BoxMaker, BoxProblem, interpreter_folders
from assent.sandbox.bubblewrap import Masks, bubblewrap, bubblewrap_launcher
from assent.sandbox.kept_places import KeptPlaces
from assent.sandbox.landlock_box import available as landlock_available
from assent.sandbox.landlock_box import landlock_launcher
from assent.sandbox.profiles import PROFILES, READ_ONLY, WORKSPACE, Profile
from assent.sandbox.seatbelt import sandbox_exec, seatbelt_launcher
from assent.subpath import is_below

_LEFT_OUT = ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
"""Variables that lead to programs outside the sandbox."""
_CACHES = {
    "XDG_CACHE_HOME": (".cache", ""),
    "PIP_CACHE_DIR": (".cache/pip", "pip"),
    "UV_CACHE_DIR": (".cache/uv", "uv"),
    "npm_config_cache": (".npm", "npm"),
    "GOCACHE": (".cache/go-build", "go-build"),
    "CCACHE_DIR": (".cache/ccache", "ccache"),
}
"""Where caches are in the home folder, and in the sandbox. They get their own folder, because whatever a command puts
into the real ones acts later, outside the sandbox."""


_HOLDS = set[str | None]()
"""The programs that passed the test in this process; a server tests them once, not for every session."""


class Unconfined(Exception):
    """The sandbox cannot be used; the message says why."""


class Confined(Struct, frozen=True):
    """One run in a sandbox: what starts it, and what to look after when it has ended."""

    launcher: Launcher
    kept: KeptPlaces = KeptPlaces()
    sandbox_port: SandboxPort | None = None
    """Where its proxy connects; None if it has no proxy."""
    contents: tuple[ApprovedContent, ...] = ()
    """What its files must be; the launcher has copies of them."""

    def clean_up(self) -> list[str]:
        """Undo what the sandbox cannot prevent; returns a sentence for each."""
        if self.sandbox_port is not None:
            self.sandbox_port.close()
        return self.kept.restore()


class Confinement:
    def __init__(self, roots: Sequence[str], own_folders: Sequence[str], masks: str, env: Mapping[str, str]) -> None:
        """`own_folders` hold our settings, keys and sessions; `masks` is a folder for the few files that the sandbox
        itself needs.
        """
        self._maker = BoxMaker(roots, own_folders, env, needed=interpreter_folders())
        self.masks = Masks(masks)
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._tested: asyncio.Task[str] | None = None
        self._landlock: asyncio.Task[str] | None = None

    async def problem(self) -> str:
        """Why there is no sandbox here; empty if there is one. Tested once."""
        if self._tested is None or self._tested.cancelled():
            self._tested = asyncio.ensure_future(self._test())
        return await asyncio.shield(self._tested)

    async def _test(self) -> str:
        from assent.sandbox.self_test import first_failure, seatbelt_failure

        if bubblewrap() is None and sandbox_exec() is not None:
            return await seatbelt_failure()
        if bubblewrap() is None:
            return "bubblewrap is not installed (apt install bubblewrap)" if sys.platform == "linux" else "not on Linux"
        if (owner := _other_owner(self._roots)) is not None:
            return f"{owner} belongs to another user, whose files root cannot change in a sandbox"
        if bubblewrap() in _HOLDS:
            return ""
        try:
            problem = await first_failure(self.masks)
        except OSError as error:
            return str(error)
        if not problem:
            _HOLDS.add(bubblewrap())
        return problem

    async def confine(
        self, name: SandboxName, cwd: str, *, writable: Sequence[str] = (), executes: Sequence[ExecutedFile] = ()
    ) -> "Confined | None":
        """How to start a program in this profile; None for `off`. Raises Unconfined. `writable` are real paths besides
        the workspace. With the profile `network`, the caller runs the proxy. If one of the files that it `executes` has
        another content by now, raises FileChanged.
        """
        profile = PROFILES[name]
        if not profile.confined:
            return None
        if problem := await self.problem():
            if profile.writes or await self.landlock_problem():
                raise Unconfined(problem)
            return await asyncio.to_thread(self._landlocked, profile, cwd)
        # It may search a large workspace.
        return await asyncio.to_thread(self._confined, profile, cwd, writable, executes)

    async def for_helper(self, cwd: str) -> Launcher | None:
        """For a program of our own that only reads, such as ripgrep: it can write nothing and has no network. None if
        there is no sandbox. It may open secrets: whoever calls it shows nothing of them, and looking for them here
        would take longer than the search.
        """
        if await self.problem() or bubblewrap() is None:
            return None
        box = Box(profile=READ_ONLY, roots=self._roots, needed=tuple(filter(os.path.exists, interpreter_folders())))
        return self._launcher(box, cwd)

    async def landlock_problem(self) -> str:
        """Why Landlock cannot confine commands that only read, where bubblewrap does not work; empty if it can."""
        if self._landlock is None or self._landlock.cancelled():
            self._landlock = asyncio.ensure_future(_test_landlock())
        return await asyncio.shield(self._landlock)

    def _landlocked(self, profile: Profile, cwd: str) -> "Confined":
        try:
            return Confined(landlock_launcher(self._maker.box(profile, cwd, ())))
        except (BoxProblem, OSError) as error:
            raise Unconfined(str(error)) from error

    def _seatbelted(self, box: Box) -> "Confined":
        try:
            return Confined(seatbelt_launcher(box), box.kept)
        except BoxProblem as error:
            raise Unconfined(str(error)) from error

    def why_not_writable(self, path: str) -> str | None:
        return self._maker.why_not_writable(path)

    def _confined(
        self, profile: Profile, cwd: str, writable: Sequence[str], executes: Sequence[ExecutedFile]
    ) -> "Confined":
        box = self._box(profile, cwd, writable)
        if bubblewrap() is None:
            return self._seatbelted(box)
        closed = (*box.hidden, *box.emptied)
        contents = [one for one in approved_contents(executes) if not is_below(os.path.realpath(one.path), closed)]
        try:
            sandbox_port = SandboxPort(self.masks.folder) if profile.network else None
        except OSError as error:
            raise Unconfined(str(error)) from error
        box = replace(box, proxy_socket="" if sandbox_port is None else sandbox_port.path)
        launcher = self._launcher(box, cwd, [one.data for one in contents])
        return Confined(launcher, box.kept, sandbox_port, tuple(contents))

    def _box(self, profile: Profile, cwd: str, writable: Sequence[str] = ()) -> Box:
        try:
            self.masks.make()
            return self._maker.box(profile, cwd, writable)
        except (BoxProblem, OSError) as error:
            raise Unconfined(str(error)) from error

    def _launcher(self, box: Box, cwd: str, approved: Sequence[bytes] = ()) -> Launcher:
        program = bubblewrap()
        assert program is not None, "tested before"
        return bubblewrap_launcher(program, box, os.path.realpath(cwd), self.masks, approved)

    async def launcher_for_trial(self, cwd: str) -> Launcher:
        """For a command that sees a copy of the workspace: it can write there, and nowhere else. Raises Unconfined."""
        box = await asyncio.to_thread(self._box, WORKSPACE, cwd)
        return self._launcher(replace(box, writable=()), cwd)


async def _test_landlock() -> str:
    from assent.sandbox.self_test import landlock_failure

    if not landlock_available():
        return "this kernel has no Landlock, or an early version of it"
    try:
        return await landlock_failure()
    except (BoxProblem, OSError) as error:
        return str(error)


def workspace_confinement(env: Mapping[str, str], folder: str) -> Confinement:
    data = str(data_folder(env))
    own = [data, str(settings_file(env).parent)]
    return Confinement([folder], own, os.path.join(data, "sandbox"), env)


def confined_environment(
    env: Mapping[str, str], *, proxied: bool = False, writable: Sequence[str] = ()
) -> dict[str, str]:
    """For a program in a sandbox: its own temporary folder and caches, except for those that it may write to, and no
    way to programs outside but its proxy.
    """
    kept = {name: value for name, value in env.items() if name not in _LEFT_OUT}
    home = os.path.realpath(env.get("HOME") or "/nonexistent")
    caches = {
        name: os.path.join("/tmp/.cache", own).rstrip("/")
        for name, (usual, own) in _CACHES.items()
        if not is_below(os.path.join(home, usual), writable)
    }
    proxy = proxy_environment(env) if proxied else {}
    return kept | caches | proxy | {"TMPDIR": "/tmp", "ASSENT_SANDBOX": "1"}


def _other_owner(roots: Sequence[str]) -> str | None:
    """In a sandbox, root has no power over files of others."""
    if os.getuid() != 0:
        return None
    return next((root for root in roots if os.stat(root).st_uid != 0), None)
