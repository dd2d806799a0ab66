from pathlib import Path

import pytest

from tools.toolkit import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "work"
    root.mkdir()
    return Bench(root)
