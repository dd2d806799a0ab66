"""Proves that the sandbox holds on this machine, by trying what must fail in it.

Everything it touches is its own: a folder with a canary in it, and a socket that only this process listens on. Whether
a file was written is decided by looking from outside.
"""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

from msgspec import Struct

from assent.process.run_program import ProcessLimits, run
from assent.process.spawn import Launcher
from assent.sandbox.boxes import Box, interpreter_folders
from assent.sandbox.bubblewrap import Masks, bubblewrap, bubblewrap_launcher
from assent.sandbox.profiles import READ_ONLY, WORKSPACE, Profile

_LIMITS = ProcessLimits(total=20.0)
_SECONDS_TO_CONNECT = 3
_PROBES = """
import os, socket, sys
work, outside, secret, port = sys.argv[1:]

def probe(name, deed):
    try:
        deed()
    except OSError:
        print(name, "failed")
    else:
        print(name, "worked")

def write(path):
    with open(path, "w") as file:
        file.write("x")

probe("write-workspace", lambda: write(os.path.join(work, "new")))
probe("write-outside", lambda: write(outside))
probe("read-secret", lambda: open(secret).read())
probe("kernel", lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)))
probe("connect", lambda: socket.create_connection(("127.0.0.1", int(port)), SECONDS).close())
"""


class Probe(Struct, frozen=True):
    """One thing that was tried, and whether the result is as it should be."""

    name: str
    expected: bool
    worked: bool | None
    """None if it was not reached."""

    @property
    def holds(self) -> bool:
        return self.worked is self.expected


_WORDS = {
    "write-workspace": "writing to the workspace",
    "write-outside": "writing outside the workspace",
    "read-secret": "reading a secret",
    "kernel": "changing settings of the kernel",
    "connect": "connecting directly, past the proxy",
}


def in_words(probe: Probe) -> str:
    return f"{_WORDS[probe.name]}: {_outcome(probe)}"


def _outcome(probe: Probe) -> str:
    match probe.worked, probe.expected:
        case None, _:
            return "not reached"
        case True, True:
            return "possible"
        case True, False:
            return "POSSIBLE, but must not be"
        case _, False:
            return "refused"
        case _:
            return "REFUSED, but must be possible"


async def first_failure(masks: Masks) -> str:
    """Why the sandbox does not hold; empty if it does."""
    return _failure(*await tried(WORKSPACE, masks))


async def landlock_failure() -> str:
    """The same for Landlock, which supports only the profile that writes nothing."""
    return _failure(*await tried_with_landlock())


async def seatbelt_failure() -> str:
    """The same for Seatbelt, on macOS."""
    return _failure(*await tried_with_seatbelt())


def _failure(probes: list[Probe], output: str) -> str:
    broken = next((one for one in probes if not one.holds), None)
    if broken is None:
        return ""
    if broken.worked is None:
        return f"the sandbox cannot be set up: {output.strip() or 'no reason was given'}"
    return f"the sandbox does not hold: {in_words(broken)}"


async def tried(profile: Profile, masks: Masks) -> tuple[list[Probe], str]:
    """Every probe in this profile, and what was printed."""
    program = bubblewrap()
    if program is None:
        raise FileNotFoundError("bubblewrap is not installed")
    masks.make()
    async with _scene() as scene:
        box = Box(profile=profile, roots=(scene.work,), hidden=(scene.secret,), needed=tuple(interpreter_folders()))
        output = await _output(scene, bubblewrap_launcher(program, box, scene.work, masks))
        return list(_probes(profile, scene, output)), output


async def tried_with_landlock() -> tuple[list[Probe], str]:
    from assent.sandbox.landlock_box import landlock_launcher

    async with _scene() as scene:
        launcher = landlock_launcher(Box(profile=READ_ONLY, roots=(scene.work,), hidden=(scene.secret,)))
        output = await _output(scene, launcher)
        return list(_probes(READ_ONLY, scene, output)), output


async def tried_with_seatbelt() -> tuple[list[Probe], str]:
    from assent.sandbox.seatbelt import seatbelt_launcher

    async with _scene(os.path.expanduser("~")) as scene:  # the folder for temporary files can be written
        launcher = seatbelt_launcher(Box(profile=WORKSPACE, roots=(scene.work,), hidden=(scene.secret,)))
        output = await _output(scene, launcher)
        return list(_probes(WORKSPACE, scene, output)), output


def _probes(profile: Profile, scene: "_Scene", output: str) -> Iterator[Probe]:
    reached = "connect " in output  # the last one
    written = os.path.exists(os.path.join(scene.work, "new"))
    yield Probe("write-workspace", profile.writes, written if reached else None)
    yield Probe("write-outside", False, os.path.exists(scene.outside) if reached else None)
    for name in ("read-secret", "kernel", "connect"):
        yield Probe(name, False, f"{name} worked" in output if reached else None)


class _Scene(Struct, frozen=True):
    work: str
    outside: str
    secret: str
    port: int


@asynccontextmanager
async def _scene(place: str | None = None) -> AsyncGenerator["_Scene"]:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="assent-sandbox-", dir=place))
    work = os.path.join(folder, "work")
    os.mkdir(work)
    secret = os.path.join(work, "folder", "canary")
    os.mkdir(os.path.dirname(secret))
    with open(secret, "w") as file:
        file.write("secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        try:
            yield _Scene(work, os.path.join(folder, "outside"), secret, listening.getsockname()[1])
        finally:
            shutil.rmtree(folder, ignore_errors=True)


async def _output(scene: _Scene, launcher: Launcher) -> str:
    script = _PROBES.replace("SECONDS", str(_SECONDS_TO_CONNECT))
    argv = [sys.executable, "-I", "-S", "-c", script, scene.work, scene.outside, scene.secret, str(scene.port)]
    finished = await run(argv, cwd="/", limits=_LIMITS, launcher=launcher)
    return finished.output.text()
