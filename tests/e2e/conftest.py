"""The program under test, in a place of its own."""

from pathlib import Path

import pytest

from support.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)
