"""Garbage of a server is collected when it disturbs nobody."""

import asyncio
import gc
import weakref
from collections.abc import Generator

import pytest

from assent.front.web.garbage import STEP, collect_when_calm


class Loop:
    """Refers to itself, so that only a collection ends it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def rarely() -> Generator[None]:
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 1_000, 1_000)  # whatever else the test makes collects nothing
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("rarely")
async def test_it_is_collected_in_a_calm_moment_and_not_before():
    gone, looked, calm = asyncio.Event(), asyncio.Event(), False

    def is_calm() -> bool:
        looked.set()
        return calm

    collecting = asyncio.create_task(collect_when_calm(is_calm, pause=0))
    await looked.wait()
    watched = weakref.ref(Loop(), lambda _: gone.set())
    looked.clear()
    await looked.wait()
    assert watched() is not None
    calm = True
    await gone.wait()
    collecting.cancel()


@pytest.mark.usefixtures("rarely")
async def test_meanwhile_the_steps_are_small_and_afterwards_all_is_as_before():
    before = gc.get_threshold()
    collecting = asyncio.create_task(collect_when_calm(lambda: False))
    await asyncio.sleep(0)
    assert gc.get_threshold()[0] == STEP and gc.get_freeze_count() > 0
    collecting.cancel()
    await asyncio.gather(collecting, return_exceptions=True)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
