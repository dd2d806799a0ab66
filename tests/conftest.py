"""Fixtures that all tests share."""

import pytest
from hypothesis import settings

from support.programs import check_programs

settings.register_profile("ci", max_examples=50, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="many more examples for the property tests")
    parser.addoption(
        "--update-screens", action="store_true", help="keep the pictures of the terminal UI as they are now"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--thorough"):
        settings.load_profile("thorough")


@pytest.hookimpl(tryfirst=True)  # before its fixtures start a program that is not there
def pytest_runtest_setup(item: pytest.Item) -> None:
    check_programs(item)
