"""A session of 2,000 turns, switched between four wire formats: the last 200 turns against 200 after a warm-up.

Each turn has a call and an answer; the context window is small, so that the conversation is compressed many times. It
ends in the format in which it began, because reading one costs more than reading another.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import msgspec

from bench.measure import SOURCE
from bench.provider import FORMATS, Provider
from bench.report import Row

RATIO = 1.3
NOTES = "".join(f"{n}: The meeting about topic {n} is on Tuesday at noon, in the usual room.\n" for n in range(60))
ANSWER: dict[str, Any] = {"chunks": [{"text": "All are on Tuesday. " * 30}], "when": {"result_contains": "Tuesday"}}
SUMMARY = {"chunks": [{"text": "# Facts\nAll meetings are on Tuesday.\n"}], "repeat": 10_000}
SUMMARISER = "litellm:summary"


class Sizes(NamedTuple):
    turns: int
    warm_up: int
    part: int


FULL, QUICK = Sizes(2_000, 100, 200), Sizes(240, 40, 40)


class Turn(NamedTuple):
    seconds: float
    cpu: float
    kilobytes: float


def measure(quick: bool) -> Iterator[Row]:
    sizes = QUICK if quick else FULL
    turns = _turns(sizes.turns)
    first, last = turns[sizes.warm_up : sizes.warm_up + sizes.part], turns[-sizes.part :]
    for what, unit, factor, field in (
        ("a turn, wall time", "ms", 1000, "seconds"),
        ("a turn, CPU", "ms", 1000, "cpu"),
        ("resident memory", "MB", 1 / 1024, "kilobytes"),
    ):
        late, early = (mean(getattr(turn, field) for turn in part) * factor for part in (last, first))
        yield Row(what, late, unit, early, RATIO)


def _turns(count: int) -> Sequence[Turn]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assent-bench-")))
        (folder / "notes.txt").write_text(NOTES)
        env = _serve(stack, count)
        models = [wire_format.model for wire_format in FORMATS.values()]
        talk = msgspec.json.encode({"env": env, "models": [*models, models[0]], "small_model": SUMMARISER})
        done = subprocess.run(
            [sys.executable, "-m", "bench.talking", str(folder), str(count)],
            input=talk + b"\n",
            stdout=subprocess.PIPE,
            env=dict(os.environ) | SOURCE,
            check=True,
        )
    return [Turn(*map(float, line.split())) for line in done.stdout.splitlines()]


def _call(name: str) -> dict[str, Any]:
    call = {"name": "read_file", "args": {"file_path": "notes.txt"}, "id": f"{name}-{{n}}"}
    return {"chunks": [{"text": "I look."}, {"call": call}]}


def _serve(stack: ExitStack, turns: int) -> dict[str, str]:
    """A fake for each format, and one that writes the summaries; how they are reached."""
    env: dict[str, str] = {}
    for name, wire_format in FORMATS.items():
        provider = stack.enter_context(Provider(name))
        provider.play({"replies": [_call(name), ANSWER] * turns})
        env |= wire_format.env(provider.url)
    summariser = stack.enter_context(Provider("chat"))
    summariser.play({"replies": [SUMMARY]})
    return env | {"LITELLM_BASE_URL": summariser.url}
