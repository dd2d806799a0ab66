"""A stage for the whole terminal UI."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Callable[..., Stage]:
    """Sets one up, with these replies of the model."""
    return lambda *replies, **more: Stage(tmp_path / "cart", tmp_path / "home", *replies, **more)
