"""The crash matrix: 300 deaths of Assent, and nothing lost, doubled or left. `make integration`; takes some minutes."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.crashes import rehearse

KILLS = int(os.environ.get("KILLS", "300"))
AT_ONCE = 4
SHARES = 10


@pytest.fixture(autouse=True)
def hangups_kill() -> Iterator[None]:
    """Under nohup they would be ignored, also by the programs of this test."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.spec("J2")
@pytest.mark.spec("D6")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("share", range(SHARES))
def test_whatever_kills_assent_nothing_is_lost_doubled_or_left(tmp_path: Path, share: int):
    seeds = range(share, KILLS, SHARES)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [pool.submit(rehearse, tmp_path / str(seed), seed) for seed in seeds]
    problems = [str(error) for run in runs if (error := run.exception()) is not None]
    assert problems == []
