"""10,000 scripts that change between the yes and the start. `make integration`; takes some minutes."""

import os
import random
from pathlib import Path

import pytest

from support.changing_script import CHANGES, ENDINGS, OLD, POINTS, ChangingScript, ran, script

ROUNDS = int(os.environ.get("ROUNDS", "10000"))


@pytest.mark.spec("J9")
@pytest.mark.timeout(1200)
async def test_a_changed_script_never_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w").mkdir()
    script(tmp_path / "w", OLD)
    harness = ChangingScript(tmp_path / "w", monkeypatch)
    chance = random.Random(9)
    for number in range(ROUNDS):
        at = chance.randrange(len(POINTS)) if number % 100 == 0 else chance.randrange(len(POINTS) - 1)
        command = chance.choice(("./x.sh", "bash x.sh", "cd . && sh ./x.sh"))
        assert await harness.round(command, POINTS[at], chance.choice(CHANGES)) == ENDINGS[at], number
    assert "new" not in ran(tmp_path / "w")
