"""What trying a command first adds: `true` in an overlay and in the sandbox alone; and finding out what a command did.

The workspace for the latter has 100,000 files in 1,000 folders. Only what changed is looked at, so the time grows with
the effects and not with the workspace; the floor is one walk over it, which any snapshot would need twice.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from assent.files.apply_effects import changed_places
from assent.files.trial_store import TrialStore
from assent.files.upper_folder import read_upper
from assent.process.run_program import run
from assent.process.spawn import Launcher
from assent.sandbox.confinement import Confinement
from assent.sandbox.trials import StartedTrial, Trials
from bench.measure import interleaved
from bench.report import Row, Skipped

MOST_MS = 60.0
"""Milliseconds that an overlay may add to the sandbox."""
MOST_MS_LARGE = 800.0
"""For everything around a command in a large workspace."""
_FILES, _FOLDERS, _CHANGED = 100_000, 1_000, 10_000


def measure(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-", dir="/var/tmp") as name, asyncio.Runner() as runner:
        yield from _start(Path(name), runner, 5 if quick else 41)
        yield from _large(Path(name), runner, 1 if quick else 5)


def _trials(folder: Path, work: Path) -> tuple[Trials, Confinement]:
    confinement = Confinement([str(work)], [str(folder / "data")], str(folder / "masks"), os.environ)
    return Trials(confinement, TrialStore(str(folder / "data/trials")), str(work)), confinement


def _start(folder: Path, runner: asyncio.Runner, runs: int) -> Iterator[Row]:
    work = folder / "work"
    work.mkdir()
    trials, confinement = _trials(folder, work)
    if problem := runner.run(trials.problem()):
        raise Skipped(problem)
    confined = runner.run(confinement.confine("workspace", str(work)))
    assert confined is not None
    launcher = confined.launcher
    medians = interleaved(
        {
            "boxed": lambda: _ms(lambda: runner.run(_run(work, launcher))),
            "tried": lambda: _ms(lambda: runner.run(_tried(trials, work, "true"))),
        },
        runs,
    )
    yield Row("`true`", medians["tried"], "ms", medians["boxed"])
    yield Row("what the overlay adds", medians["tried"] - medians["boxed"], "ms", None, MOST_MS)


def _large(folder: Path, runner: asyncio.Runner, runs: int) -> Iterator[Row]:
    work = folder / "large"
    for number in range(_FILES):
        path = work / f"{number % _FOLDERS}" / f"{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    trials, _ = _trials(folder, work)
    walk = interleaved({"walk": lambda: _ms(lambda: _stat_all(work))}, runs)["walk"]
    runner.run(_tried(trials, work, "true"))  # which files are special is known now
    one = interleaved({"one": lambda: _around(runner, trials, work, "sed -i s/1/2/ 7/7.py")}, runs)
    many = interleaved(
        {"many": lambda: _around(runner, trials, work, f"sed -i s/1/2/ {{0..{_CHANGED // 100 - 1}}}/*.py")}, runs
    )
    yield Row("one walk over 100,000 files", walk, "ms")
    yield Row("around a command that changes one of them", one["one"], "ms", None, MOST_MS_LARGE)
    yield Row("… that changes 10,000 of them", many["many"], "ms", None, MOST_MS_LARGE)


def _around(runner: asyncio.Runner, trials: Trials, work: Path, command: str) -> float:
    """Everything but the command: preparing the overlay, finding the effects, and comparing them before applying."""
    begun = time.perf_counter()
    started = runner.run(trials.start("bench", str(work)))
    before = time.perf_counter() - begun
    runner.run(_run(work, started.launcher, command))
    begun = time.perf_counter()
    found = read_upper(started.folder.upper, str(work), started.since)
    assert changed_places(str(work), found.effects) == []
    after = time.perf_counter() - begun
    started.folder.release()
    trials.store.remove("bench")
    return (before + after) * 1000


async def _tried(trials: Trials, work: Path, command: str) -> None:
    started: StartedTrial = await trials.start("bench", str(work))
    await _run(work, started.launcher, command)
    read_upper(started.folder.upper, str(work), started.since)
    started.folder.release()
    trials.store.remove("bench")


async def _run(work: Path, launcher: Launcher, command: str = "true") -> None:
    finished = await run(["/bin/bash", "-c", command], cwd=str(work), launcher=launcher)
    assert finished.code == 0, finished.output.text()


def _stat_all(folder: Path) -> None:
    for place, _, names in os.walk(folder):
        for name in names:
            os.lstat(f"{place}/{name}")


def _ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000
