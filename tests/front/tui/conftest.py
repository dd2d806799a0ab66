"""A harness for the whole terminal UI."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.app_harness import AppHarness


@pytest.fixture
def harness(tmp_path: Path) -> Callable[..., AppHarness]:
    """Sets one up, with these replies of the model."""
    return lambda *replies, **more: AppHarness(tmp_path / "cart", tmp_path / "home", *replies, **more)
