"""What a sandbox adds to a command: `true` as Assent runs it, with and without; and what bubblewrap alone adds.

The floor of the overhead is bubblewrap with the same mounts, started without Assent. Choosing the mounts is measured on
a workspace of 10,000 files in 1,000 folders.
"""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from assent.process.reaper import INPUTS, STATUS
from assent.process.run_program import run
from assent.process.spawn import Launcher
from assent.sandbox.confinement import Confined, Confinement
from bench.measure import interleaved
from bench.report import Row, Skipped

MOST_MS = 10.0
"""Milliseconds that a sandbox may add to a command."""


def measure(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-", dir="/var/tmp") as name:
        yield from _overhead(Path(name), 5 if quick else 61)
        yield from _choosing(Path(name), 3 if quick else 21)


def _overhead(folder: Path, runs: int) -> Iterator[Row]:
    work = folder / "work"
    work.mkdir()
    with asyncio.Runner() as runner:
        confined = runner.run(_confined(folder, work))

        def ours(launcher: Launcher | None) -> float:
            return runner.run(_timed(work, launcher))

        medians = interleaved(
            {
                "bare": lambda: ours(None),
                "boxed": lambda: ours(confined.launcher),
                "popen": lambda: _popen(["/bin/true"]),
                "bwrap": lambda: _bubblewrap(confined.launcher),
            },
            runs,
        )
    alone = medians["bwrap"] - medians["popen"]
    yield Row("`true`", medians["boxed"], "ms", medians["bare"])
    yield Row("what the sandbox adds", medians["boxed"] - medians["bare"], "ms", None, MOST_MS)
    yield Row("… and bubblewrap alone", medians["boxed"] - medians["bare"], "ms", alone)


def _choosing(folder: Path, runs: int) -> Iterator[Row]:
    large = folder / "large"
    for number in range(10_000):
        path = large / f"{number % 1000}" / f"{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    confinement = Confinement([str(large)], [str(folder / "data")], str(folder / "masks"), os.environ)
    with asyncio.Runner() as runner:
        runner.run(confinement.confine("workspace", str(large)))
        again = interleaved(
            {"choose": lambda: _ms(lambda: runner.run(confinement.confine("workspace", str(large))))}, runs
        )
        walk = interleaved({"walk": lambda: _ms(lambda: sum(1 for _ in os.walk(large)))}, runs)
    yield Row("choosing the mounts", again["choose"], "ms", walk["walk"])


async def _confined(folder: Path, work: Path) -> Confined:
    confinement = Confinement([str(work)], [str(folder / "data")], str(folder / "masks"), os.environ)
    if problem := await confinement.problem():
        raise Skipped(problem)
    confined = await confinement.confine("workspace", str(work))
    assert confined is not None
    return confined


async def _timed(work: Path, launcher: Launcher | None) -> float:
    begun = time.perf_counter()
    await run(["/bin/true"], cwd=str(work), launcher=launcher)
    return (time.perf_counter() - begun) * 1000


def _bubblewrap(launcher: Launcher) -> float:
    """With the same arguments and inputs, at the descriptors where it expects them."""
    files = [_file(data) for data in launcher.inputs]
    report = os.open(os.devnull, os.O_WRONLY)

    def place() -> None:
        os.dup2(report, STATUS)
        for at, fd in enumerate(files):
            os.dup2(fd, INPUTS + at)

    try:
        return _popen([*launcher.argv, "/bin/true"], place)
    finally:
        for fd in (*files, report):
            os.close(fd)


def _popen(argv: list[str], place: Callable[[], None] | None = None) -> float:
    return _ms(lambda: subprocess.run(argv, check=True, preexec_fn=place, close_fds=place is None))


def _file(data: bytes) -> int:
    fd = os.memfd_create("input")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
