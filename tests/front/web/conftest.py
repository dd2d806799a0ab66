"""One browser and one server for all tests of the page; each test brings its own sessions and windows.

While the browser lives no event loop can be started, and other tests need theirs: those of the page come last.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.page import Served, Windows, a_browser, a_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def page_server() -> Iterator[Served]:
    with a_server() as served:
        yield served


@pytest.fixture
def served(page_server: Served) -> Served:
    return page_server


@pytest.fixture
def windows(served: Served, browser: Browser) -> Iterator[Windows]:
    windows = Windows(served, browser)
    yield windows
    windows.close()
