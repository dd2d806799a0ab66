"""Fixtures that all tests share."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from support.postgres_server import PostgresServer
from support.programs import check_programs
from support.temporal_server import TemporalServer

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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Started once, by the first test that uses it."""
    server = PostgresServer()
    server.create()
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def temporal_server() -> Iterator[TemporalServer]:
    """Started once, by the first test that uses it."""
    server = TemporalServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgres_server.new_database()
