"""Runs and measures programs: one at a time, taking turns, with medians of the results."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import assent as measured

LAUNCHER = Path(__file__).with_name("launch.py")
FLOOR = [sys.executable, str(Path(__file__).with_name("floor.py"))]
TEXT_FLOOR = [sys.executable, str(Path(__file__).with_name("text_floor.py"))]
BARE = [sys.executable, "-c", "pass"]
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
SOURCE = {"PYTHONPATH": str(Path(measured.__file__).parent.parent)}
"""The programs run what this process imports, whatever else is installed."""


class Sample(NamedTuple):
    started_ns: int
    """`time.monotonic_ns()`, comparable between the processes of a machine."""
    seconds: float
    cpu: float
    megabytes: float
    """Peak resident memory."""


def assent() -> list[str]:
    """The installed command, or else the module."""
    script = Path(sys.executable).with_name("assent")
    return [str(script)] if script.exists() else [sys.executable, "-m", "assent"]


def run(argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Sample:
    """Output goes into a pipe that is read to its end; there is no input."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as report:
        launched = subprocess.run(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(theirs), *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={name: os.environ[name] for name in KEPT if name in os.environ} | SOURCE | dict(env or {}),
            cwd=cwd,
            pass_fds=(theirs,),
        )
        os.close(theirs)
        started, took, cpu, kilobytes, code = report.read().split()
    if code != "0":
        raise RuntimeError(f"{' '.join(argv)} exited with {code}:\n{launched.stderr.decode()}")
    return Sample(int(started), int(took) / 1e9, float(cpu), int(kilobytes) / 1024)


def interleaved(contestants: Mapping[str, Callable[[], float]], runs: int, warm_ups: int = 1) -> dict[str, float]:
    """The median of each contestant. All take turns in each round, so that a busy moment affects them all."""
    results: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(warm_ups + runs):
        for name, contestant in contestants.items():
            figure = contestant()
            if turn >= warm_ups:
                results[name].append(figure)
    return {name: median(figures) for name, figures in results.items()}
