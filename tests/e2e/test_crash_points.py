"""A few crashes of each kind; all of them are in `make integration`."""

from pathlib import Path

import pytest

from support.crashes import rehearse


@pytest.mark.spec("J2")
@pytest.mark.spec("D6")
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_nothing_is_lost_doubled_or_left(tmp_path: Path, seed: int):
    rehearse(tmp_path, seed)
